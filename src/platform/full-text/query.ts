// Parses a user's search. All words must match; there are no operators. Only words of the tokenizer
// (words.ts) reach an engine, so users cannot use the syntax of an engine.
//
// query                         | finds a document
// ------------------------------+--------------------------------------------------------------
// berlin 2024                   | with both words, in any order
// "annual report"               | with these words one after the other
// e-mail, (a+b)                 | the same: text without spaces is a phrase
// joe@example.com               | with exactly this address
// from:joe  subject:"the plan"  | with the word in the sender, or the phrase in the subject
// has:attachment                | with an attachment
// repor*  "annual rep*"  from:j*| with a word that begins with this
import { ValidationError } from '../errors.ts';
import { attachmentWord, marks } from './document.ts';
import { addressesIn, folded, isUnspaced, type Phrase, phraseOf } from './words.ts';

/** Phrases, all of which a document must contain. No document matches an empty list. */
export type FullTextQuery = readonly Phrase[];

const mostWords = 40;
/**
 * Most words with `*`. For each, FTS5 collects the positions of all words with the prefix before
 * the first result.
 */
const mostPrefixes = 4;
const leastPrefixCharacters = 3;

/**
 * Matches a term: an optional field, then a phrase in quotes, or text without spaces and quotes.
 */
const term = /(?:(from|subject):)?(?:"([^"]*)"(\*?)|([^\s"]+))/giu;

/**
 * Parses a search. @throws ValidationError for too many words, or too many or short words with `*`
 */
export function parseQuery(text: string): FullTextQuery {
  const phrases = new Map<string, Phrase>();
  let prefixes = 0;
  for (const [, field, quoted, star, bare] of text.normalize('NFC').matchAll(term)) {
    const { isAsked, ...phrase } = readTerm(
      field?.toLowerCase(),
      quoted ?? bare ?? '',
      star === '*',
    );
    const key = JSON.stringify(phrase);
    if (phrase.words.length === 0 || phrases.has(key)) continue;
    if (isAsked) requireLong(phrase);
    prefixes += Number(isAsked);
    phrases.set(key, phrase);
  }
  if (prefixes > mostPrefixes) {
    throw ValidationError.of(
      'q',
      `has more than ${mostPrefixes} words with *: write some of them out`,
    );
  }
  const count = [...phrases.values()].reduce((sum, { words }) => sum + words.length, 0);
  if (count > mostWords) {
    throw ValidationError.of('q', `has more than ${mostWords} words: ask for fewer`);
  }
  return [...phrases.values()];
}

function requireLong({ words }: Phrase): void {
  const last = (words.at(-1) ?? '').replace(/^[<#]/, '');
  if ([...last].length >= leastPrefixCharacters) return;
  throw ValidationError.of('q', `needs ${leastPrefixCharacters} characters or more before a *`);
}

interface Term extends Phrase {
  /** Whether the user wrote the `*`. Short words in scripts without spaces have an implied `*`. */
  isAsked: boolean;
}

function readTerm(field: string | undefined, written: string, hasStar: boolean): Term {
  const text = folded(written);
  if (field === undefined && text === 'has:attachment') {
    return { words: [attachmentWord], isPrefix: false, isAsked: false };
  }
  const mark = markOf(field);
  const hasAnyStar = hasStar || /[\p{L}\p{M}\p{N}]\*$/u.test(text);
  const bare = text.replace(/^[^\p{L}\p{N}]+|(?<=[\p{L}\p{N}])[^\p{L}\p{N}]+$/gu, '');
  const [address] = addressesIn(bare, 1);
  if (address === bare && !hasAnyStar && mark !== marks.subject) {
    return { words: [mark + marks.address + address], isPrefix: false, isAsked: false };
  }
  const phrase = phraseOf(text, hasAnyStar);
  const isAsked = hasAnyStar && !isUnspaced(phrase.words.at(-1) ?? '');
  return { ...phrase, words: phrase.words.map((word) => mark + word), isAsked };
}

function markOf(field: string | undefined): string {
  if (field === 'from') return marks.from;
  return field === 'subject' ? marks.subject : '';
}
