// Finds attribution lines ("On … wrote:") that no `>` line follows, in the languages of
// email-reply-parser. Version 2.3.7 of that library backtracks without bound (64 KB of `Op …
// schreef`: 200 s), so it gets one window of 4 KB (50 ms at worst). It also takes Outlook's `____`
// rule for a signature and drops the quoted mail. It runs only if one of its expressions may match:
// on most mails it would take longer than the rest of the parse.
import EmailReplyParser from 'email-reply-parser';

const windowCharacters = 4096;
const longLineCharacters = 200;

/** Words required by the library's expressions for attributions; others need a rule, or a colon with more. */
const verbs = ['wrote', 'écrit', 'escribió', 'scritto', 'escreveu', 'schrieb', 'schreef']
  .concat('skrev', 'pisze', 'napisał', 'kirjoitti')
  .concat('ср,', '写道：', '작성:', 'のメッセージ:');
const headerLine = /(?:From|Von|De|Van|Da)\s?:/;
const rule =
  /^-{1,12} ?(?:original message|oprindelig besked|message d'origine|ursprüngliche nachricht)/imu;

/** Returns true if the library may find an attribution in a text without lines that begin with `>`. */
export function mayHoldAttribution(text: string): boolean {
  if (verbs.some((verb) => text.includes(verb))) return true;
  if (text.includes('-') && rule.test(text)) return true;
  if (!text.includes(':')) return false;
  // Some expressions need an address, or a similar text, in brackets.
  return text.includes('>') || headerLine.test(text);
}

/**
 * Returns the first line of an attribution without a following `>` before line `end`, or null. Lines before
 * `end` must not begin with `>`.
 */
export function findForeignAttribution(lines: readonly string[], end: number): number | null {
  const shown: string[] = [];
  let size = 0;
  for (let at = 0; at < end; at += 1) {
    const line = lines[at] ?? '';
    // Long lines are not attributions, and their length makes the expressions slow.
    const visible = line.length > longLineCharacters ? 'x' : line.trimEnd();
    size += visible.length + 1;
    if (size > windowCharacters) break;
    shown.push(visible);
  }
  const text = shown.join('\n');
  return mayHoldAttribution(text) ? findFragment(text, shown) : null;
}

/** Returns the line at which the library's first quoted fragment begins. */
function findFragment(text: string, lines: readonly string[]): number | null {
  const fragments = new EmailReplyParser().read(text).getFragments();
  const first = fragments
    .find((fragment) => fragment.isQuoted())
    ?.getContent()
    .trimStart();
  if (first === undefined) return null;
  const start = lines.findIndex((line) => line !== '' && first.startsWith(line.trimStart()));
  return start < 0 ? null : start;
}
