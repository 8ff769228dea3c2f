// Shared by the commands that create and change a webhook: its events and headers as flags.
import { Flags } from '@oclif/core';
import { given } from './body.ts';
import { UsageError } from './failure.ts';

export const settingFlags = {
  event: Flags.string({
    description: 'Kind of event, such as message.delivered or message.*; may be repeated',
    helpValue: 'KIND',
    multiple: true,
    multipleNonGreedy: true,
  }),
  header: Flags.string({
    description: 'Header field to add to each post; may be repeated',
    helpValue: 'NAME:VALUE',
    multiple: true,
    multipleNonGreedy: true,
  }),
};

function headerOf(text: string): [string, string] {
  const at = text.indexOf(':');
  if (at < 1) throw new UsageError(`--header: expected NAME:VALUE, not "${text}"`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

/** Builds the parts of the body that single flags cannot express. @throws UsageError */
export function settingsOf(flags: Record<string, unknown>): object {
  const headers = flags.header as string[] | undefined;
  return given({ headers: headers && Object.fromEntries(headers.map(headerOf)) });
}
