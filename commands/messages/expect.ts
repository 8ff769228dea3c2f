// `svc messages expect`: waits for a mail, for tests of software that sends it; exit code 8 if none
// comes.
import { Flags } from '@oclif/core';
import type {
  ExpectedMail,
  ExpectedMessage,
} from '../../src/outbound/messages/expecting/schema.ts';
import { ResourceNotFoundError } from '../../src/platform/errors.ts';
import type { Session } from '../base/asking.ts';
import { BaseCommand, type CommonFlags } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import { messageCard } from '../base/input/fields.ts';
import { timeFrom } from '../base/input/since.ts';
import { keptAlive } from '../base/keep-alive.ts';
import { ExpectationError, UsageError } from '../base/output/failure.ts';
import { print, writeLine } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

function spanOf(text: string): number {
  const since = timeFrom('--within', /^\d+$/.test(text) ? `${text}s` : text, 0);
  const ms = -Date.parse(since ?? '');
  if (Number.isNaN(ms) || ms < 0)
    throw new UsageError('--within: expected a time such as 20, 30s or 5m');
  return ms;
}

export default class MessagesExpect extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Wait for a mail to an address; exit code 8 if none comes';

  static override description =
    'Looks at received and sent mail of the last minute, or from --after on. With ' +
    '--extract it prints only the first link, or the code: a number of 4 to 8 digits, best ' +
    'beside a word such as "code" or "PIN", without spaces and prefix (G-482 913 is 482913).';

  static override examples = [
    {
      description: 'Open the link of a mail that a test caused',
      command:
        'svc messages expect --to user@example.com --subject "confirm" --within 30s --extract link',
    },
  ];

  static override flags = {
    to: Flags.string({
      description: 'Address of the recipient',
      helpValue: 'ADDRESS',
      required: true,
    }),
    subject: Flags.string({
      description: 'RE2 pattern that a part of the subject matches, in any case',
      helpValue: 'PATTERN',
    }),
    within: Flags.string({ description: 'Longest time to wait: 20, 30s, 5m', default: '30s' }),
    after: Flags.string({
      aliases: ['since'],
      description: 'Match mail since: 90s, 10m, or an instant (default: 1m)',
    }),
    extract: Flags.string({
      description: 'Print only the first link, or the code',
      options: ['link', 'code'],
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(MessagesExpect);
    const withinMs = spanOf(flags.within);
    const { parseWith } = await import('../../src/core/api/validate.ts');
    const { expectedMail } = await import('../../src/outbound/messages/expecting/schema.ts');
    const { to, subject } = flags;
    const wanted = parseWith(
      expectedMail,
      { to, ...(subject !== undefined && { subject }) },
      'query',
    );
    await withSession(flags, async (session) => {
      const from = timeFrom('--after', flags.after, session.now());
      const wait = () => expected(session, wanted, { from, withinMs });
      const found = await keptAlive(wait).catch((error: unknown) => {
        if (!(error instanceof ResourceNotFoundError)) throw error;
        throw new ExpectationError(`no mail to ${to} came within ${flags.within}`);
      });
      await show(found, flags);
    });
  }
}

/**
 * Waits for the mail: in the local store, or at a server, where the client repeats the request
 * until the time is over.
 */
async function expected(
  { ask, local }: Session,
  wanted: ExpectedMail,
  { from, withinMs }: { from: string | undefined; withinMs: number },
): Promise<ExpectedMessage> {
  if (local) {
    const { expectMessage } = await import('../../src/outbound/messages/expecting/expect.ts');
    const since = from === undefined ? undefined : Date.parse(from);
    return expectMessage(local.app, local.caller, { ...wanted, since, withinMs });
  }
  const { messageRoutes } = await import('../../src/outbound/messages/routes.ts');
  const within = `${Math.ceil(withinMs / 1_000)}s`;
  return ask(messageRoutes.expect, { query: given({ ...wanted, after: from, within }) });
}

async function show(
  { message, codes, links }: ExpectedMessage,
  flags: CommonFlags & { extract?: string | undefined },
): Promise<void> {
  if (flags.extract === undefined) {
    await print(flags, message, async () =>
      (await import('../base/output/format.ts')).card(message, messageCard),
    );
    return;
  }
  const found = flags.extract === 'link' ? links[0]?.url : codes[0]?.value;
  if (found === undefined) throw new ExpectationError(`${message.id} has no ${flags.extract}`);
  if (flags.json)
    await print(flags, { messageId: message.id, [flags.extract]: found }, () => found);
  else writeLine(found.replace(/\p{C}+/gu, ''));
}
