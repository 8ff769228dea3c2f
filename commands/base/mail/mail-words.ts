// Shared parts of the commands that send from a mailbox: the flags of a mail, and the body.
import { Flags } from '@oclif/core';
import type { ReplyResult } from '../../../src/inbox/replies/schema.ts';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';
import type { Session } from '../asking.ts';
import { type CommonFlags, dataFlag } from '../command.ts';
import { attachmentsFrom, given, readData, textFrom } from '../input/body.ts';
import { itemsOf } from '../items.ts';
import { printCard } from '../output/output.ts';
import { type LoadRoute, withSession } from '../route.ts';
import { threadParams } from './thread.ts';

const several = { multiple: true } as const;

/** The flag of commands whose send can be undone for some seconds. */
export const delayFlag = {
  'delay-seconds': Flags.integer({
    description: 'Seconds before it leaves, 0 to 60: "svc messages cancel" makes it a draft again',
    min: 0,
    max: 60,
  }),
};

export const contentFlags = {
  message: Flags.string({
    description: 'Id of the message; without it the newest received one',
    helpValue: 'MESSAGE_ID',
  }),
  cc: Flags.string({
    description: 'Recipient of a copy (Cc); may be repeated',
    helpValue: 'ADDRESS',
    ...several,
  }),
  bcc: Flags.string({
    description: 'Recipient of a blind copy (Bcc); may be repeated',
    helpValue: 'ADDRESS',
    ...several,
  }),
  text: Flags.string({ description: 'Plain text, @FILE, or - for standard input' }),
  html: Flags.string({ description: 'HTML, @FILE, or - for standard input' }),
  attach: Flags.string({
    description: 'File to attach; may be repeated',
    helpValue: 'FILE',
    ...several,
  }),
  ...delayFlag,
  ...dataFlag,
};

interface ContentFlags {
  to?: string[] | undefined;
  cc?: string[] | undefined;
  bcc?: string[] | undefined;
  text?: string | undefined;
  html?: string | undefined;
  attach?: string[] | undefined;
  'delay-seconds'?: number | undefined;
  data?: string | undefined;
}

/** Builds the body: flags override `--data`. @throws UsageError for an unreadable file. */
async function mailFrom({ data, text, html, attach, to, cc, bcc, ...flags }: ContentFlags) {
  return {
    ...(await readData(data)),
    ...given({
      to,
      cc,
      bcc,
      text: await textFrom(text),
      html: await textFrom(html),
      attachments: await attachmentsFrom(attach),
      delaySeconds: flags['delay-seconds'],
    }),
  };
}

/**
 * Runs a route on a message of a thread: the message of the flag, else the newest received message,
 * else the newest message. @throws ResourceNotFoundError
 */
export async function callOnMessage<Answer>(
  flags: CommonFlags & ContentFlags & { message?: string | undefined },
  typed: string,
  load: LoadRoute<Answer>,
): Promise<Answer> {
  const body = await mailFrom(flags);
  return withSession(flags, async (session) => {
    const params = await threadParams(session, typed);
    const { id, threadId } = params;
    const messageId = flags.message ?? (await newestIn(session, params));
    if (messageId === undefined) throw new ResourceNotFoundError('message', `of ${threadId}`);
    return session.ask(await load(), { params: { id, messageId }, body });
  });
}

/**
 * Returns the id of the newest received message of a thread, else of the newest message; undefined
 * for a thread without messages.
 */
async function newestIn(
  session: Session,
  params: { id: string; threadId: string },
): Promise<string | undefined> {
  const { threadId } = params;
  if (session.local) {
    const { newestOf } = await import('../../../src/inbox/threads/queries.ts');
    const { db } = session.local.app.store;
    const newest = (await newestOf(db, threadId, true)) ?? (await newestOf(db, threadId, false));
    return newest?.message_id;
  }
  const { threadRoutes } = await import('../../../src/inbox/threads/routes.ts');
  let received: string | undefined;
  let newest: string | undefined;
  for await (const { id, direction } of itemsOf(session, threadRoutes.messages, { params })) {
    newest = id;
    if (direction === 'inbound') received = id;
  }
  return received ?? newest;
}

const fields = ['status', 'messageId', 'threadId', 'waitReason', 'createdAt'];

/** Prints the result of a send. */
export function printResult(flags: CommonFlags, result: ReplyResult): Promise<void> {
  const skipped = result.skippedRecipients.map(({ address, reason }) => `${address} (${reason})`);
  const note = skipped.length > 0 ? `Left out: ${skipped.join(', ')}` : '';
  return printCard(flags, result, fields, note);
}
