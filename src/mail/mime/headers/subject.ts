// The subject of a conversation: a subject line without the words by which mail programs of any
// language mark a reply or a forward (RFC 5256 2.1 lists the English words).

/** Marks of a reply; programs in each language have their own. */
const answerWords = [
  ...['re', 'aw', 'antw', 'sv', 'vs', 'vl', 'rif', 'r', 'odp', 'ynt', 'res', 'atb', 'bls', 'yan'],
  ...['vá', 'απ', 'σχετ', 'отв', 'ответ', 'на', '回复', '回覆', '答复', '返信', '답장'],
  ...['تم الرد', 'رد', 'השב'],
];
/** Marks of a forward. */
const forwardWords = [
  ...['fw', 'fwd', 'wg', 'tr', 'rv', 'enc', 'i', 'fs', 'doorst', 'pd', 'továbbítás', 'ilt', 'vb'],
  ...['πρθ', 'пересл', '转发', '轉寄', '転送', '전달', 'إعادة توجيه', 'הועבר'],
];

/** Builds the expression for a mark: `Re:`, `RE[2]:`, `Aw (3):`, `回复：`. */
const markOf = (words: readonly string[]) =>
  new RegExp(
    `^(?:${words.join('|')})\\s*(?:(?:\\[\\d{1,3}\\]|\\(\\d{1,3}\\)|\\^\\d{1,3})\\s*)?[:：]\\s*`,
    'iu',
  );
const prefix = markOf([...answerWords, ...forwardWords]);
const answerMark = markOf(answerWords);
const forwardMark = markOf(forwardWords);
/** Name of a mailing list, such as `[svc-users]`, before or after a reply mark. */
const listName = /^\[[^\][]{1,60}\]\s*/u;
const trailer = / ?\((?:fwd|wtr)\)$/i;
const mostCharacters = 998;
const mostPrefixes = 50;

/**
 * Returns the subject for comparison: without marks and list names, white space collapsed, case
 * folded. Empty if the subject has only marks and list names.
 */
export function baseSubject(subject: string | null): string {
  let text = (subject ?? '')
    .slice(0, mostCharacters)
    .normalize('NFKC')
    .replace(/\s+/gu, ' ')
    .trim();
  for (let count = 0; count < mostPrefixes; count += 1) {
    const bare = text.replace(prefix, '').replace(trailer, '');
    const unlisted = bare.replace(listName, '');
    const next = unlisted === '' ? bare : unlisted;
    if (next === text) break;
    text = next.trim();
  }
  return text.toUpperCase().toLowerCase();
}

/** Returns true if the subject has a reply or forward mark, even after a list name. */
export function hasMark(subject: string | null): boolean {
  const text = (subject ?? '').slice(0, mostCharacters).normalize('NFKC').trim();
  return prefix.test(text.replace(listName, '')) || prefix.test(text) || trailer.test(text);
}

/** Tells whether a subject begins with the mark of a forward, in any language. */
export function isForwardSubject(subject: string): boolean {
  return forwardMark.test(subject.slice(0, mostCharacters).trim());
}

function marked(mark: string, words: RegExp, subject: string | null): string {
  let text = (subject ?? '').slice(0, mostCharacters).trim();
  for (let count = 0; count < mostPrefixes; count += 1) {
    const bare = text.replace(words, '');
    if (bare === text) break;
    text = bare;
  }
  return `${mark} ${text}`.trim().slice(0, mostCharacters);
}

/**
 * Returns the subject of a reply to this subject: a single `Re:` replaces all reply marks of any
 * language.
 */
export function answerSubject(subject: string | null): string {
  return marked('Re:', answerMark, subject);
}

/** Returns the subject of a forward of this subject: a single `Fwd:` replaces all forward marks. */
export function forwardSubject(subject: string | null): string {
  return marked('Fwd:', forwardMark, subject);
}
