// `svc messages explain`. src/outbound/explain/explain-words.ts has the sentences.
import type {
  MessageExplanation,
  RecipientExplanation,
  ServerWords,
} from '../../src/outbound/explain/schema.ts';
import { metadataOf, shownStatus, shownStatusOfAll } from '../../src/outbound/messages/captured.ts';
import { BaseCommand } from '../base/command.ts';
import { messageArg, messageIdFrom } from '../base/mail/message-id.ts';
import { print } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

const attemptColumns = ['number', 'at', 'durationMs', 'host', 'tls', 'outcome', 'said'];
const sparkFrom = 3;

type SaidParts = 'code' | 'enhancedCode' | 'reply';

function wordsOf({ code, enhancedCode, reply }: Pick<ServerWords, SaidParts>): string {
  return [code, enhancedCode, reply].filter((part) => part !== null && part !== '').join(' ');
}

async function recipientText(recipient: RecipientExplanation, now: number): Promise<string> {
  const { emphasize, inWords, plainText, table } = await import('../base/output/format.ts');
  const { sparkline } = await import('../base/output/sparkline.ts');
  const { timeInWords } = await import('../../src/outbound/explain/time-words.ts');
  const { email, kind, status, happened, happenedAt, because, next, help, said, attempts } =
    recipient;
  const { remedy, memberRefusals } = recipient;
  const word = shownStatus({ status, metadata: metadataOf(attempts) });
  const who = inWords([email, kind, word].filter((part) => part !== null).join('  '));
  const lines = [`  ${happened} ${timeInWords(Date.parse(happenedAt), now)}`];
  if (because) lines.push(`  ${because}`);
  if (next) lines.push(`  ${next}`);
  if (remedy && remedy !== next) lines.push(`  Remedy: ${remedy}`);
  if (memberRefusals) lines.push(`  ${memberRefusals}`);
  if (help) lines.push(`  ${help.purpose}: ${help.command}`);
  if (said && wordsOf(said) !== '') {
    const where = [said.host, said.address && `[${said.address}]`, said.verb].filter(Boolean);
    lines.push(`  Reply: ${wordsOf(said)} (${where.join(' ')})`);
  }
  const text = `${emphasize(who)}\n${plainText(lines.join('\n'))}`;
  if (attempts.length === 0) return text;
  const rows = attempts.map((attempt) => ({ ...attempt, said: wordsOf(attempt) }));
  const history = table(rows, attemptColumns).replaceAll(/^/gm, '  ');
  const took = attempts.map(({ durationMs }) => durationMs);
  const spark = attempts.length >= sparkFrom ? `\n  took ${sparkline(took)}` : '';
  return `${text}\n\n${history}${spark}`;
}

async function explanationText(explanation: MessageExplanation, now: number): Promise<string> {
  const { emphasize, inWords } = await import('../base/output/format.ts');
  const { messageId, subject, summary, recipients } = explanation;
  const fates = recipients.map((one) => ({ ...one, metadata: metadataOf(one.attempts) }));
  const status = shownStatusOfAll(explanation.status, fates);
  const head = `${emphasize(messageId)}  ${inWords(subject)}  ${status}\n${summary}`;
  return [head, ...(await Promise.all(recipients.map((one) => recipientText(one, now))))].join(
    '\n\n',
  );
}

export default class MessagesExplain extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Explain the state of a message and its next step';

  static override description =
    'Shows for each recipient the last event, the reason and end of its wait, the reply ' +
    'of the server, and the command that helps.';

  static override examples = [
    {
      description: 'Explain why a message has not arrived',
      command: 'svc messages explain msg_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    {
      description: 'Print the time of the next attempt',
      command:
        "svc messages explain msg_06dq2k0qz8h3v5m1r9t4w7xy --json | jq '.recipients[].nextAt'",
    },
  ];

  static override args = messageArg;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MessagesExplain);
    await withSession(flags, async (session) => {
      const id = await messageIdFrom(session, args.id);
      const { explainRoutes } = await import('../../src/outbound/explain/routes.ts');
      const explanation = await session.ask(explainRoutes.message, { params: { id } });
      await print(flags, explanation, () => explanationText(explanation, session.now()));
    });
  }
}
