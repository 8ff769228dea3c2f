// Builds the send payload (specification 4.2) from the flags of `messages send`, which override
// `--data`. The schema of HTTP validates it.
import { attachmentsFrom, given, textFrom } from '../input/body.ts';
import { UsageError } from '../output/failure.ts';

/** The flags that describe the message, by their names. */
export interface SendFlags {
  to?: string[] | undefined;
  cc?: string[] | undefined;
  bcc?: string[] | undefined;
  from?: string | undefined;
  'reply-to'?: string[] | undefined;
  subject?: string | undefined;
  text?: string | undefined;
  html?: string | undefined;
  attach?: string[] | undefined;
  header?: string[] | undefined;
  tag?: string[] | undefined;
  metadata?: string[] | undefined;
  'track-opens'?: boolean | undefined;
  'track-clicks'?: boolean | undefined;
  conversation?: string | undefined;
  'unsubscribe-group'?: string | undefined;
  template?: string | undefined;
}

/** Parses `Ada <ada@example.com>`, or an address alone. */
export function party(text: string): { email: string; name?: string } {
  const [, before, email] = /^([^<]*)<([^<>]*)>$/.exec(text.trim()) ?? [];
  const name = before === undefined ? undefined : /^"?([^"]*)"?$/.exec(before.trimEnd())?.[1];
  if (email === undefined || name === undefined) return { email: text.trim() };
  return name === '' ? { email } : { email, name };
}

/** Splits `X-Campaign: spring` or `order=7` at the first separator. */
function pair(text: string, separator: string, flag: string): [string, string] {
  const at = text.indexOf(separator);
  if (at < 1) throw new UsageError(`--${flag} ${text}: expected NAME${separator}VALUE`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

function pairs(texts: string[] | undefined, separator: string, flag: string) {
  return texts && Object.fromEntries(texts.map((text) => pair(text, separator, flag)));
}

async function emailContent(flags: SendFlags) {
  const tracking = given({ opens: flags['track-opens'], clicks: flags['track-clicks'] });
  return given({
    subject: flags.subject,
    text: await textFrom(flags.text),
    html: await textFrom(flags.html),
    replyTo: flags['reply-to'],
    unsubscribeGroupId: flags['unsubscribe-group'],
    headers: pairs(flags.header, ':', 'header'),
    attachments: await attachmentsFrom(flags.attach),
    tracking: Object.keys(tracking).length > 0 ? tracking : undefined,
  });
}

/**
 * Returns the fields of a template, named by id or slug. With `--template`, `--data` has the data
 * of the template instead of the body.
 */
function templateFields({ template }: SendFlags, templateData: Record<string, unknown>) {
  if (template === undefined) return {};
  const name = template.startsWith('tmpl_') ? { templateId: template } : { templateSlug: template };
  return { ...name, templateData };
}

/** @throws UsageError for a file that cannot be read or a pair without a separator. */
export async function sendPayloadFrom(
  data: Record<string, unknown>,
  flags: SendFlags,
): Promise<Record<string, unknown>> {
  const isTemplate = flags.template !== undefined;
  const body = isTemplate ? {} : data;
  const email = { ...(await emailContent(flags)), ...templateFields(flags, data) };
  const content = Object.keys(email).length > 0 || body.email === undefined;
  return {
    channel: 'email',
    ...body,
    ...given({
      to: flags.to?.map(party),
      cc: flags.cc?.map(party),
      bcc: flags.bcc?.map(party),
      from: flags.from === undefined ? undefined : party(flags.from),
      conversationId: flags.conversation,
      tags: flags.tag,
      metadata: pairs(flags.metadata, '=', 'metadata'),
    }),
    ...(content && { email: { ...(body.email as object | undefined), ...email } }),
  };
}
