// Johab (KS X 1001:1992, annex 3): a Hangul syllable is a set bit and five bits for each of three
// letters. Symbols and Hanja are the characters of EUC-KR with different codes. Linear.
const firstSyllable = 0xac00;
const vowels = 21;
const finals = 28;
const filler = -1;
const firstVowelLetter = 0x314f;
const initialLetters = 'ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ';
const finalLetters = 'ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ';
const unknown = '\ufffd';

/**
 * Maps five-bit values to indexes of letters: -1 for the filler (no letter), undefined if unused.
 */
function placesOf(fillerAt: number, ranges: readonly (readonly [first: number, last: number])[]) {
  const places: (number | undefined)[] = [];
  places[fillerAt] = filler;
  let place = 0;
  for (const [first, last] of ranges) {
    for (let value = first; value <= last; value += 1) places[value] = place++;
  }
  return places;
}

const initialOf = placesOf(1, [[2, 20]]);
const vowelOf = placesOf(2, [
  [3, 7],
  [10, 15],
  [18, 23],
  [26, 29],
]);
const finalOf = placesOf(1, [
  [2, 17],
  [19, 29],
]);

function hangul(code: number): string {
  const initial = initialOf[(code >> 10) & 31];
  const vowel = vowelOf[(code >> 5) & 31];
  const final = finalOf[code & 31];
  if (initial === undefined || vowel === undefined || final === undefined) return unknown;
  if (initial !== filler && vowel !== filler) {
    return String.fromCharCode(firstSyllable + (initial * vowels + vowel) * finals + final + 1);
  }
  if (vowel === filler && final === filler) return initialLetters[initial] ?? '\u3000';
  if (initial !== filler) return unknown;
  if (vowel === filler) return finalLetters[final] ?? unknown;
  return final === filler ? String.fromCharCode(firstVowelLetter + vowel) : unknown;
}

/** Returns a symbol (lead byte from 0xD9) or a Hanja (from 0xE0); U+FFFD for an unused code. */
function beyondHangul(lead: number, trail: number, decodeEuc: (bytes: Buffer) => string): string {
  const isPlaced = (trail >= 0x31 && trail <= 0x7e) || (trail >= 0x91 && trail <= 0xfe);
  if (!isPlaced || lead < 0xd9 || lead === 0xdf || lead > 0xf9) return unknown;
  const row = lead < 0xe0 ? 2 * (lead - 0xd9) : 2 * lead - 0x197;
  const cell = trail < 0x91 ? trail - 0x31 : trail - 0x43;
  const isSecond = cell >= 0x5e;
  const code = [row + (isSecond ? 1 : 0) + 0xa1, (isSecond ? cell - 0x5e : cell) + 0xa1];
  return decodeEuc(Buffer.from(code));
}

/** Decodes Johab; an unused code becomes U+FFFD. `decodeEuc` decodes EUC-KR. */
export function decodeJohab(bytes: Buffer, decodeEuc: (bytes: Buffer) => string): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const lead = bytes[at] ?? 0;
    if (lead < 0x80) {
      pieces.push(String.fromCharCode(lead));
      continue;
    }
    at += 1;
    const trail = bytes[at];
    if (trail === undefined) pieces.push(unknown);
    else if (lead < 0xd4) pieces.push(hangul((lead << 8) | trail));
    else pieces.push(beyondHangul(lead, trail, decodeEuc));
  }
  return pieces.join('');
}
