// Attributions that no `>` follows, in the languages that email-reply-parser knows. Its version 2.3.7
// backtracks without bound (16 KB of `Op … schreef` 3.2 s, 64 KB 200 s) and takes Outlook's `____` rule for
// a signature that swallows the quoted mail. So it sees one window of 4 KB (50 ms at worst), and only where
// one of its expressions may match: for most mails it would take longer than all else that is parsed.
import EmailReplyParser from 'email-reply-parser';

const windowCharacters = 4096;
const longLineCharacters = 200;

/** Each of its expressions for a line that introduces needs one of these, a rule, or a colon with more. */
const verbs = ['wrote', 'écrit', 'escribió', 'scritto', 'escreveu', 'schrieb', 'schreef']
  .concat('skrev', 'pisze', 'napisał', 'kirjoitti')
  .concat('ср,', '写道：', '작성:', 'のメッセージ:');
const headerLine = /(?:From|Von|De|Van|Da)\s?:/;
const rule =
  /^-{1,12} ?(?:original message|oprindelig besked|message d'origine|ursprüngliche nachricht)/imu;

/** Whether the library may find an attribution in a text that has no line with a `>` in front. */
export function mayHoldAttribution(text: string): boolean {
  if (verbs.some((verb) => text.includes(verb))) return true;
  if (text.includes('-') && rule.test(text)) return true;
  if (!text.includes(':')) return false;
  // With an address, or what looks like one, in brackets.
  return text.includes('>') || headerLine.test(text);
}

/**
 * The first line of such an attribution before line `end`, or null. No line before `end` may have a `>` in
 * front.
 */
export function findForeignAttribution(lines: readonly string[], end: number): number | null {
  const shown: string[] = [];
  let size = 0;
  for (let at = 0; at < end; at += 1) {
    const line = lines[at] ?? '';
    // Long lines are no attributions, and their length is what makes the expressions slow.
    const visible = line.length > longLineCharacters ? 'x' : line.trimEnd();
    size += visible.length + 1;
    if (size > windowCharacters) break;
    shown.push(visible);
  }
  const text = shown.join('\n');
  return mayHoldAttribution(text) ? findFragment(text, shown) : null;
}

/** The line with which the first quoted fragment begins, as the library sees it. */
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
