// `svc messages expect`: waits for a mail, for tests of software that sends it; exit code 8 if none
// comes.
import { Flags } from '@oclif/core';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import type { EmailProjection } from '../../src/outbound/messages/email-schema.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { foldAddress } from '../../src/platform/net/address.ts';
import { BaseCommand, type CommonFlags } from '../base/command.ts';
import { messageCard } from '../base/input/fields.ts';
import { timeFrom } from '../base/input/since.ts';
import { readUntil } from '../base/keep-alive.ts';
import { ExpectationError, UsageError } from '../base/output/failure.ts';
import { print, writeLine } from '../base/output/output.ts';
import { runRoute } from '../base/route.ts';
import { withCaller } from '../base/session.ts';

/** Most pages of the newest messages to look through. */
const mostPages = 10;
const perPage = 100;
const readAgainMs = 1_000;

type Extract = 'link' | 'code';

/** Time before the command starts in which a mail counts: a test may send first and expect then. */
const lookBackMs = 60_000;

interface Wanted {
  to: string;
  subject: RegExp | null;
  since: string;
}

function fits({ to, subject }: Wanted, message: Message): boolean {
  const isTo = message.recipients.some(({ email }) => foldAddress(email) === foldAddress(to));
  return isTo && (subject === null || subject.test(message.subject ?? ''));
}

/** The newest message that fits. Not by the search, which a daemon fills in a while. */
async function find(app: App, caller: Caller, wanted: Wanted): Promise<Message | undefined> {
  const { list } = (await import('../../src/outbound/messages/routes.ts')).messageRoutes;
  for (let page = 1; page <= mostPages; page++) {
    const query = { startDate: wanted.since, limit: perPage, page };
    const { items } = await runRoute(app, caller, list, { query });
    const found = items.find((message) => fits(wanted, message));
    if (found || items.length < perPage) return found;
  }
  return undefined;
}

function patternOf(text: string | undefined): RegExp | null {
  if (text === undefined) return null;
  try {
    return new RegExp(text, 'iu');
  } catch (error) {
    throw new UsageError(`--subject ${text}: ${(error as Error).message}`);
  }
}

function spanOf(text: string): number {
  const since = timeFrom('--within', text, 0);
  const ms = -Date.parse(since ?? '');
  if (Number.isNaN(ms) || ms < 0)
    throw new UsageError('--within: expected a time such as 30s or 5m');
  return ms;
}

export default class MessagesExpect extends BaseCommand {
  static override summary = 'Wait for a mail to an address; exit code 8 if none comes';

  static override description =
    'Looks at received and sent mail of the last minute, or from --since on. With ' +
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
      description: 'Regular expression that the subject matches',
      helpValue: 'REGEXP',
    }),
    within: Flags.string({ description: 'Longest time to wait: 30s, 5m', default: '30s' }),
    since: Flags.string({
      description: 'Match mail since: 90s, 10m, or an instant (default: 1m)',
    }),
    extract: Flags.string({
      description: 'Print only the first link, or the code',
      options: ['link', 'code'],
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(MessagesExpect);
    const subject = patternOf(flags.subject);
    const withinMs = spanOf(flags.within);
    await withCaller(flags, async (app, caller) => {
      const now = app.clock.now();
      const since =
        timeFrom('--since', flags.since, now) ?? new Date(now - lookBackMs).toISOString();
      const wanted = { to: flags.to, subject, since };
      const isEnough = (found: Message | undefined) => found !== undefined;
      const wait = { timeoutMs: withinMs, longestPauseMs: readAgainMs, isEnough };
      const message = await readUntil(app, wait, () => find(app, caller, wanted));
      if (!message)
        throw new ExpectationError(`no mail to ${flags.to} came within ${flags.within}`);
      await show(app, caller, message, flags);
    });
  }
}

async function extracted(email: EmailProjection, what: Extract): Promise<string | null> {
  if (what === 'link') {
    return (await import('../../src/mail/mime/extracts/find-link.ts')).findLink(email);
  }
  return (await import('../../src/mail/mime/extracts/find-code.ts')).findCode(email);
}

async function show(
  app: App,
  caller: Caller,
  message: Message,
  flags: CommonFlags & { extract?: string | undefined },
): Promise<void> {
  if (flags.extract === undefined) {
    await print(flags, message, async () =>
      (await import('../base/output/format.ts')).card(message, messageCard),
    );
    return;
  }
  const { email: route } = (await import('../../src/outbound/messages/routes.ts')).messageRoutes;
  const email = await runRoute(app, caller, route, { params: { id: message.id } });
  const found = await extracted(email, flags.extract as Extract);
  if (found === null) throw new ExpectationError(`${message.id} has no ${flags.extract}`);
  if (flags.json)
    await print(flags, { messageId: message.id, [flags.extract]: found }, () => found);
  else writeLine(found.replace(/\p{C}+/gu, ''));
}
