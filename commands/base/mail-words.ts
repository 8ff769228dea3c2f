// What commands share that send from a mailbox: the flags of a mail, and the body that they make.
import { basename } from 'node:path';
import { Flags } from '@oclif/core';
import type { ReplyResult } from '../../src/answering/schema.ts';
import { given, readData, readInput, textFrom } from './body.ts';
import { type CommonFlags, dataFlag } from './command.ts';
import { printCard } from './output.ts';

const several = { multiple: true } as const;

export const contentFlags = {
  cc: Flags.string({ description: 'Copy; may be repeated', helpValue: 'ADDRESS', ...several }),
  bcc: Flags.string({
    description: 'Hidden copy; may be repeated',
    helpValue: 'ADDRESS',
    ...several,
  }),
  text: Flags.string({ description: 'Plain text, or @FILE' }),
  html: Flags.string({ description: 'HTML, or @FILE' }),
  attach: Flags.string({ description: 'File to attach', helpValue: 'FILE', ...several }),
  ...dataFlag,
};

interface ContentFlags {
  to?: string[] | undefined;
  cc?: string[] | undefined;
  bcc?: string[] | undefined;
  text?: string | undefined;
  html?: string | undefined;
  attach?: string[] | undefined;
  data?: string | undefined;
}

async function attachment(path: string) {
  return { filename: basename(path), content: (await readInput(path)).toString('base64') };
}

/** The body: what the flags say, laid over `--data`. @throws UsageError for a file that cannot be read. */
export async function mailFrom({ data, text, html, attach, to, cc, bcc }: ContentFlags) {
  return {
    ...(await readData(data)),
    ...given({
      to,
      cc,
      bcc,
      text: await textFrom(text),
      html: await textFrom(html),
      attachments: attach && (await Promise.all(attach.map(attachment))),
    }),
  };
}

const fields = ['status', 'messageId', 'threadId', 'waitReason', 'createdAt'];

/** Shows what became of a mail. */
export function printResult(flags: CommonFlags, result: ReplyResult): Promise<void> {
  const skipped = result.skippedRecipients.map(({ address, reason }) => `${address} (${reason})`);
  const note = skipped.length > 0 ? `Left out: ${skipped.join(', ')}` : '';
  return printCard(flags, result, fields, note);
}
