// Mails in ten scripts and searches in them, by a seed; and the expected results, from reading all
// mails.

import { type FullTextDocument, placesOf } from '../../../src/platform/full-text/document.ts';
import { type FullTextQuery, parseQuery } from '../../../src/platform/full-text/query.ts';
import { folded } from '../../../src/platform/full-text/words.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';

const vocabulary: Readonly<Record<string, string>> = {
  latin:
    'invoice Zürich façade Łódź smørrebrød naïve İstanbul ısırgan straße STRASSE ﬁnance Việt Nam œuvre jalapeño report annual budget e-mail 2024 Q3 don’t café resumé',
  greek: 'Οδυσσέας ΟΔΥΣΣΕΑΣ λογαριασμός έκθεση Αθήνα ετήσια ὀξύς ΐδιος τιμολόγιο',
  cyrillic: 'счёт отчёт Москва йогурт ежегодный Київ їжак бюджет СЧЁТ България',
  arabic: 'فاتورة الْعَرَبِيَّة تقرير سنوي ميزانية كـتـاب القاهرة مرحبا ٢٠٢٤',
  hebrew: 'חשבונית שָׁלוֹם דוח שנתי תקציב ירושלים מכתב',
  devanagari: 'कि कु चालान रिपोर्ट वार्षिक हिन्दी बजट दिल्ली नमस्ते',
  han: '東京都 年度报告 发票 預算 中文 北京大学 会议 你好 𠀋𠂢',
  japanese: 'コーヒー ｺｰﾋｰ ありがとう 請求書 がんばる ヴァイオリン 御見積書を送ります ㈱',
  hangul: '보고서 연간 송장 예산 서울 안녕하세요 한국어 감사합니다',
  thai: 'สวัสดี ใบแจ้งหนี้ รายงานประจำปี งบประมาณ กรุงเทพ น้ำ',
};
const scripts = Object.values(vocabulary).map((words) => words.split(' '));
const separators = [' ', ' ', ' ', ', ', '. ', '\n', ' — ', '。', '/'];
const addresses = [
  'joe@example.com',
  'ann.lee+x@post.example.org',
  'ψ@παράδειγμα.gr',
  'info@例え.jp',
];

function choicesOf(seed: number) {
  const random = seededRandom(seed);
  const below = (count: number) => Math.floor(random.float() * count);
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  /** Chooses a word, at times of another script. */
  const wordFrom = (words: readonly string[]) => one(below(8) === 0 ? one(scripts) : words);
  return { below, one, wordFrom };
}

/** Returns `count` mails, by their keys. */
export function mailsOf(seed: number, count: number): Record<string, FullTextDocument> {
  const { below, one, wordFrom } = choicesOf(seed);
  const write = (words: readonly string[], most: number) =>
    Array.from({ length: 1 + below(most) }, () => wordFrom(words) + one(separators)).join('');
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const words = scripts[index % scripts.length] ?? [];
      const mail = {
        subject: write(words, 4),
        from: [one(addresses), write(words, 2)],
        text: write(words, 40) + (below(5) === 0 ? one(addresses) : ''),
        hasAttachment: below(6) === 0,
      };
      return [`m${String(index).padStart(5, '0')}`, mail];
    }),
  );
}

/** A search, and a mail that its result must include. */
export interface Asked {
  q: string;
  includes?: string;
}

export function queriesOver(
  mails: Readonly<Record<string, FullTextDocument>>,
  seed: number,
  count: number,
): Asked[] {
  const { below, one, wordFrom } = choicesOf(seed + 1);
  const keys = Object.keys(mails);
  const firstWord = (text: string) => text.split(/[\s,./。—]+/u).find((word) => word !== '') ?? '';
  const kinds: (() => Asked)[] = [
    () => ({ q: wordFrom(one(scripts)) }),
    () => ({ q: `${wordFrom(one(scripts))} ${wordFrom(one(scripts))}` }),
    () => ({ q: `"${wordFrom(one(scripts))} ${wordFrom(one(scripts))}"` }),
    () => {
      const characters = [...wordFrom(one(scripts))];
      const start = characters.slice(0, 3 + below(characters.length)).join('');
      return { q: [...folded(start)].length < 3 ? start : `${start}*` };
    },
    () => ({ q: one([...wordFrom(one(scripts))]) }),
    () => ({ q: `from:${one(addresses)}` }),
    () => ({ q: `from:${wordFrom(one(scripts))} ${one(['', 'has:attachment'])}` }),
    () => ({ q: `${one(addresses)} ${wordFrom(one(scripts))}` }),
    () => {
      const key = one(keys);
      return { q: `subject:${firstWord(mails[key]?.subject ?? '')}`, includes: key };
    },
    () => {
      const key = one(keys);
      return { q: firstWord(mails[key]?.text ?? '').toUpperCase(), includes: key };
    },
    () => {
      const key = one(keys);
      const text = (mails[key]?.text ?? '').split(/\s/u).slice(0, 3).join(' ');
      return { q: `"${text.replaceAll('"', '')}"`, includes: key };
    },
  ];
  return Array.from({ length: count }, (_, index) => (kinds[index % kinds.length] ?? one(kinds))());
}

/** Returns each mail in its indexed form. */
export function placesOfAll(mails: Readonly<Record<string, FullTextDocument>>) {
  return new Map(Object.entries(mails).map(([key, mail]) => [key, placesOf(mail)]));
}

/** Returns the matches by reading one mail after the other. */
export function foundByReading(mails: ReadonlyMap<string, string[]>, q: string): string[] {
  const query = parseQuery(q);
  return [...mails].flatMap(([key, places]) => (isFound(places, query) ? key : []));
}

function isFound(places: readonly string[], query: FullTextQuery): boolean {
  if (query.length === 0) return false;
  return query.every(({ words, isPrefix }) =>
    places.some((_, at) =>
      words.every((word, index) => {
        const there = places[at + index] ?? '';
        return isPrefix && index === words.length - 1 ? there.startsWith(word) : there === word;
      }),
    ),
  );
}
