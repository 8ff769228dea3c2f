// `svc sendmail`: the /usr/sbin/sendmail of cron, PHP and similar programs (bin/sendmail). The only
// command with the exit codes of sysexits.h. src/outbound/sending/hand-in/piped-mail.ts reads the
// mail.
import { userInfo } from 'node:os';
import { Args, Flags } from '@oclif/core';
import type { Caller } from '../src/core/api/route.ts';
import type { App } from '../src/core/app.ts';
import type { Message } from '../src/outbound/messages/schema.ts';
import {
  ConfigError,
  ServiceError,
  UnreachableError,
  ValidationError,
} from '../src/platform/errors.ts';
import { BaseCommand } from './base/command.ts';
import { readInput } from './base/input/files.ts';
import { findMachineNames } from './base/machine-names.ts';
import { readSendmailWords, type SendmailWords } from './base/mail/sendmail-words.ts';
import { describeError, UsageError } from './base/output/failure.ts';
import { print, writeLine } from './base/output/output.ts';
import { serverFor } from './base/remote/server.ts';
import { withCaller } from './base/session.ts';

const exits = {
  usage: 64,
  dataError: 65,
  noUser: 67,
  unavailable: 69,
  tempFail: 75,
  noPermission: 77,
  config: 78,
} as const;

const exitOfStatus: ReadonlyMap<number, number> = new Map([
  [400, exits.dataError],
  [401, exits.noPermission],
  [402, exits.tempFail],
  [403, exits.noPermission],
  [404, exits.noUser],
  [409, exits.dataError],
  [413, exits.dataError],
  [415, exits.dataError],
  [422, exits.dataError],
  [429, exits.tempFail],
]);

/**
 * Returns the exit code of sysexits.h; an unknown error is temporary, so that the caller tries
 * again.
 */
function exitOf(error: unknown): number {
  const isRecipient = error instanceof ValidationError && error.fieldErrors?.recipient;
  if (isRecipient) return exits.noUser;
  if (error instanceof ServiceError) return exitOfStatus.get(error.status) ?? exits.tempFail;
  if (error instanceof UsageError) return exits.usage;
  if (error instanceof UnreachableError) return exits.unavailable;
  return error instanceof ConfigError ? exits.config : exits.tempFail;
}

export default class Sendmail extends BaseCommand {
  static override summary = 'Send a mail from standard input, as sendmail does';

  static override description =
    'Takes the options of sendmail and ignores those that it does not list. Stores the ' +
    'mail unchanged; the daemon delivers it, now or when it runs again. The fields ' +
    'X-Service-Idempotency-Key, -Tags, -Metadata and -Scheduled-For set the values they ' +
    'name. A recipient without a domain gets that of the default sender; a From of this ' +
    'machine becomes the default sender. Exit ' +
    'codes are those of sysexits.h: 64 options or no recipient, 65 the mail, 67 a ' +
    'recipient, 69 no store, 75 try again later, 77 not allowed, 78 the configuration.';

  static override examples = [
    {
      description: 'Read the recipients from the mail itself',
      command: 'svc sendmail -t -i < mail.eml',
    },
    {
      description: 'Name a recipient and print the id',
      command: 'svc sendmail -v ada@example.com < mail.eml',
    },
  ];

  static override strict = false;

  static override args = {
    recipient: Args.string({ description: 'Recipient; several may follow' }),
  };

  static override flags = {
    t: Flags.boolean({ char: 't', description: 'Read the recipients from To, Cc and Bcc' }),
    i: Flags.boolean({ char: 'i', description: 'Read on after a line with a single dot' }),
    f: Flags.string({
      char: 'f',
      description: 'From address for a mail without one',
      helpValue: 'FROM',
    }),
    F: Flags.string({
      char: 'F',
      description: 'Display name for a From without one',
      helpValue: 'NAME',
    }),
    v: Flags.boolean({ char: 'v', description: 'Print the id of the message' }),
  };

  async run(): Promise<void> {
    try {
      const words = readSendmailWords(this.argv, process.env.SVC_ORG);
      if (words.asksUpkeep && words.recipients.length === 0 && !words.readsRecipients) return;
      const asking = { id: 'sendmail', asksServer: false, isTyped: false };
      await serverFor({ server: process.env.SVC_SERVER }, asking);
      await withCaller(words, (app, caller) => send(app, caller, words));
    } catch (error) {
      process.stderr.write(`${describeError(error, this.argv)}\n`);
      process.exitCode = exitOf(error);
    }
  }
}

async function send(app: App, caller: Caller, words: SendmailWords): Promise<void> {
  const { readPipedMail } = await import('../src/outbound/sending/hand-in/piped-mail.ts');
  const { findDefaultSender } = await import('../src/identity/senders/queries.ts');
  const sender = await findDefaultSender(app.store.db, caller.organizationId);
  const options = { ...words, machineNames: await findMachineNames(app, caller) };
  const { raw, recipients } = readPipedMail(await readInput('-'), options, sender ?? null);
  if (recipients.length === 0) {
    throw new UsageError('no recipients: name them, or read them from the mail with -t');
  }
  const { handIn } = await import('../src/outbound/sending/hand-in/hand-in.ts');
  const { domainOf } = await import('../src/platform/net/address.ts');
  const { username } = userInfo();
  const message = await handIn(app, caller, {
    raw,
    recipients,
    allowsUtf8: true,
    bareDomain: sender ? domainOf(sender.email) : null,
    via: 'sendmail',
    user: username,
  });
  await printNotices(app, message, words);
}

/** Prints only necessary notices, because programs expect sendmail to be silent. */
async function printNotices(app: App, message: Message, words: SendmailWords): Promise<void> {
  if (words.json) await print(words, message, () => '');
  else if (words.isVerbose) writeLine(message.id);
  const { isDaemonRunning, storeLocation } = await import('../src/platform/store/open.ts');
  const { database, dataDir } = app.config;
  if (isDaemonRunning(storeLocation(database.url, dataDir)) !== false) return;
  process.stderr.write(`svc: ${message.id} waits: no daemon runs here. Start one: svc daemon\n`);
}
