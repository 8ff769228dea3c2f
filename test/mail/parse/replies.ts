// Replies as mail programs write them, over their languages. Each entry is one mail: the words of
// its sender, and the beginning of the quote. The texts are our own; the forms are those of the
// programs.

export interface Reply {
  program: string;
  /** The language and the form. */
  form: string;
  raw: Buffer;
  newContent: string;
  /** The first quoted line. */
  quotedStart: string;
}

function raw(contentType: string, body: string): Buffer {
  const header = `From: Bob <bob@example.net>
To: Alice <alice@example.org>
Subject: Re: Plan
Message-ID: <r@example.net>
MIME-Version: 1.0
Content-Type: ${contentType}; charset=utf-8
Content-Transfer-Encoding: 8bit
`;
  return Buffer.from(`${header}\n${body}`.replaceAll('\n', '\r\n'));
}

const plain = (body: string) => raw('text/plain', body);
const flowed = (body: string) => raw('text/plain; format=flowed', body);
const flowedDelSp = (body: string) => raw('text/plain; format=flowed; delsp=yes', body);
const html = (body: string) => raw('text/html', body);

interface Form {
  form: string;
  /** The attribution with its line breaks. */
  says: string;
}

/** A reply above an attribution and lines with a mark in front, as most programs write it. */
function above(program: string, build: (body: string) => Buffer, mark: string, forms: Form[]) {
  const quote = `${mark}Shall we meet?\n${mark}\n${mark}Alice\n`;
  return forms.flatMap((one) => replyAnd(program, build, quote, one));
}

/** Makes replies without marks: all text below the attribution is quoted. */
function bare(program: string, build: (body: string) => Buffer, forms: Form[]) {
  return forms.flatMap((one) => replyAnd(program, build, 'Shall we meet?\n\nAlice\n', one));
}

/**
 * Makes two mails of a reply: with an empty line before the quote, and without one, as phones do.
 */
function replyAnd(
  program: string,
  build: (body: string) => Buffer,
  quote: string,
  { form, says }: Form,
): Reply[] {
  const newContent = 'Fine, see you at noon.';
  const quotedStart = says.split('\n')[0]?.trimEnd() ?? '';
  const reply = (gap: string, suffix: string) => ({
    program,
    form: `${form}${suffix}`,
    raw: build(`${newContent}\n${gap}${says}\n${gap}${quote}`),
    newContent,
    quotedStart,
  });
  return [reply('\n', ''), reply('', '; no empty lines')];
}

const gmail = above('Gmail', plain, '> ', [
  {
    form: 'en, wrapped at the address',
    says: 'On Tue, Mar 4, 2025 at 10:12 AM Alice Example of the Long Department <\nalice@example.org> wrote:',
  },
  {
    form: 'de, wrapped in the address',
    says: 'Am Di., 4. März 2025 um 10:12 Uhr schrieb Alice Example <\nalice@example.org>:',
  },
  {
    form: 'fr, wrapped before the verb',
    says: 'Le mar. 4 mars 2025 à 10:12, Alice Example <alice@example.org> a\nécrit :',
  },
  {
    form: 'es, wrapped before the verb',
    says: 'El mar, 4 mar 2025 a las 10:12, Alice Example (<alice@example.org>)\nescribió:',
  },
  {
    form: 'it, wrapped before the verb',
    says: 'Il giorno mar 4 mar 2025 alle ore 10:12 Alice Example <\nalice@example.org> ha scritto:',
  },
  {
    form: 'pt, wrapped before the verb',
    says: 'Em ter., 4 de mar. de 2025 às 10:12, Alice Example <alice@example.org>\nescreveu:',
  },
  { form: 'nl', says: 'Op di 4 mrt 2025 om 10:12 schreef Alice Example <alice@example.org>:' },
  { form: 'ja', says: '2025年3月4日(火) 10:12 Alice Example <alice@example.org>:' },
  {
    form: 'ja, wrapped',
    says: '2025年3月4日(火) 10:12 アリス・エグザンプル <\nalice@example.org>:',
  },
]);

const thunderbird = above('Thunderbird', flowed, '> ', [
  { form: 'en, flowed', says: 'On 3/4/25 10:12, Alice Example wrote:' },
  { form: 'de, flowed', says: 'Am 04.03.25 um 10:12 schrieb Alice Example:' },
  { form: 'fr, flowed', says: 'Le 04/03/2025 à 10:12, Alice Example a écrit :' },
  { form: 'es, flowed', says: 'El 4/3/25 a las 10:12, Alice Example escribió:' },
  { form: 'it, flowed', says: 'Il 04/03/25 10:12, Alice Example ha scritto:' },
  { form: 'pt, flowed', says: 'Às 10:12 de 04/03/2025, Alice Example escreveu:' },
  { form: 'nl, flowed', says: 'Op 04-03-2025 om 10:12 schreef Alice Example:' },
  { form: 'ja, flowed', says: '(2025/03/04 10:12), Alice Example wrote:' },
  { form: 'undated', says: 'Alice Example wrote:' },
  { form: 'ja, undated', says: 'Alice Exampleさんは書きました:' },
]);

const below = 'I read it below.';
const thunderbirdBelow: Reply[] = [
  {
    program: 'Thunderbird',
    form: 'below a flowed quotation with a space at its end',
    raw: flowed(
      `On 3/4/25 10:12, Alice Example wrote:\n> A long sentence that goes on over the end of \n> its line and ends in a space \n${below}\n`,
    ),
    newContent: below,
    quotedStart: 'On 3/4/25 10:12, Alice Example wrote:',
  },
  {
    program: 'Thunderbird',
    form: 'between flowed quotations of several depths',
    raw: flowed(
      'On 3/4/25 10:12, Alice Example wrote:\n>> the older question \n> the newer question \nYes, \nboth.\n> and this? \nNo.\n',
    ),
    newContent: 'Yes, both.\nNo.',
    quotedStart: 'On 3/4/25 10:12, Alice Example wrote:',
  },
  {
    program: 'Thunderbird',
    form: 'above a flowed attribution that ends in a space',
    raw: flowed(
      'Yes.\n\nAm 04.03.25 um 10:12 schrieb Alice Example: \n> Treffen wir uns \n> am Montag?\n',
    ),
    newContent: 'Yes.',
    quotedStart: 'Am 04.03.25 um 10:12 schrieb Alice Example:',
  },
  {
    program: 'Thunderbird',
    form: 'flowed, above a signature',
    raw: flowed('Yes, I am \nhere.\n\n-- \nBob\n\nOn 3/4/25 10:12, Alice wrote:\n> Here?\n'),
    newContent: 'Yes, I am here.',
    quotedStart: 'On 3/4/25 10:12, Alice wrote:',
  },
];

const apple: Reply[] = [
  ...above('Apple Mail', flowedDelSp, '> ', [
    { form: 'en', says: 'On 4 Mar 2025, at 10:12, Alice Example <alice@example.org> wrote:' },
    {
      form: 'de, wrapped',
      says: 'Am 04.03.2025 um 10:12 schrieb Alice Example\n<alice@example.org>:',
    },
    {
      form: 'fr, wrapped in the verb',
      says: 'Le 4 mars 2025 à 10:12, Alice Example <alice@example.org> a\nécrit :',
    },
    { form: 'es', says: 'El 4 mar 2025, a las 10:12, Alice Example <alice@example.org> escribió:' },
    {
      form: 'it, wrapped in the verb',
      says: 'Il giorno 4 mar 2025, alle ore 10:12, Alice Example <alice@example.org> ha\nscritto:',
    },
    {
      form: 'nl, wrapped after the address',
      says: 'Op 4 mrt 2025, om 10:12 heeft Alice Example <alice@example.org> het\nvolgende geschreven:',
    },
    {
      form: 'pt, wrapped',
      says: 'No dia 04/03/2025, às 10:12, Alice Example <alice@example.org>\nescreveu:',
    },
  ]),
  {
    program: 'Apple Mail',
    form: 'ja, marked itself',
    raw: plain(
      '了解です。\n\n> 2025/03/04 10:12、Alice Example <alice@example.org>のメール:\n> \n> 会いましょうか。\n',
    ),
    newContent: '了解です。',
    quotedStart: '> 2025/03/04 10:12、Alice Example <alice@example.org>のメール:',
  },
];

const yahoo = bare('Yahoo Mail', plain, [
  {
    form: 'en',
    says: 'On Tuesday, March 4, 2025 at 10:12:00 AM GMT+1, Alice Example <alice@example.org> wrote:',
  },
  {
    form: 'es',
    says: 'El martes, 4 de marzo de 2025, 10:12:00 CET, Alice Example <alice@example.org> escribió:',
  },
  {
    form: 'fr',
    says: 'Le mardi 4 mars 2025 à 10:12:00 UTC+1, Alice Example <alice@example.org> a écrit :',
  },
  {
    form: 'it, wrapped',
    says: 'Il martedì 4 marzo 2025 alle ore 10:12:00 CET, Alice Example\n<alice@example.org> ha scritto:',
  },
  {
    form: 'de, wrapped',
    says: 'Am Dienstag, 4. März 2025 um 10:12:00 MEZ hat Alice Example\n<alice@example.org> Folgendes geschrieben:',
  },
  {
    form: 'pt',
    says: 'Em terça-feira, 4 de março de 2025 10:12:00 GMT, Alice Example <alice@example.org> escreveu:',
  },
]);

const outlookBlock = (labels: string[]) =>
  `${labels[0]} Alice Example <alice@example.org>\n${labels[1]} 4 March 2025 10:12\n${labels[2]} Bob\n${labels[3]} Plan`;
const outlook: Reply[] = [
  ...bare('Outlook', plain, [
    { form: 'es, header block', says: outlookBlock(['De:', 'Enviado:', 'Para:', 'Asunto:']) },
    { form: 'it, header block', says: outlookBlock(['Da:', 'Inviato:', 'A:', 'Oggetto:']) },
    { form: 'pt, header block', says: outlookBlock(['De:', 'Enviado:', 'Para:', 'Assunto:']) },
    { form: 'nl, header block', says: outlookBlock(['Van:', 'Verzonden:', 'Aan:', 'Onderwerp:']) },
    { form: 'ja, header block', says: outlookBlock(['差出人:', '送信日時:', '宛先:', '件名:']) },
    {
      form: 'en, header block between asterisks',
      says: outlookBlock(['*From:*', '*Sent:*', '*To:*', '*Subject:*']),
    },
    {
      form: 'en, attribution with <mailto:…>',
      says: 'On Tue, Mar 4, 2025 at 10:12 AM Alice Example <alice@example.org<mailto:alice@example.org>> wrote:',
    },
    {
      form: 'en, attribution with <mailto:…>, wrapped over three lines',
      says: 'On Tue, Mar 4, 2025 at 10:12 AM Alice Example of the Long Department\n<alice@example.org<mailto:alice@example.org>>\nwrote:',
    },
    {
      form: 'de, attribution with <mailto:…>, wrapped',
      says: 'Am 04.03.2025 um 10:12 schrieb Alice Example\n<alice@example.org<mailto:alice@example.org>>:',
    },
  ]),
  ...above('Outlook', plain, '> ', [
    {
      form: 'fr, attribution with <mailto:…>, wrapped over three lines',
      says: 'Le 4 mars 2025 à 10:12, Alice Example de la Direction Générale\n<alice@example.org<mailto:alice@example.org>>\na écrit :',
    },
  ]),
];

const mobile: Reply[] = [
  ...bare('Samsung Email', plain, [
    {
      form: 'en, block that begins with a rule',
      says: '-------- Original message --------\nFrom: Alice Example <alice@example.org>\nDate: 04/03/2025 10:12 (GMT+01:00)\nTo: Bob <bob@example.net>\nSubject: Plan',
    },
    {
      form: 'es, block that begins with a rule',
      says: '-------- Mensaje original --------\nDe: Alice Example <alice@example.org>\nFecha: 4/3/25 10:12 (GMT+01:00)\nPara: Bob <bob@example.net>\nAsunto: Plan',
    },
  ]),
  ...above('K-9 Mail', plain, '>', [
    {
      form: 'en',
      says: 'On 4 March 2025 10:12:00 CET, Alice Example <alice@example.org> wrote:',
    },
    { form: 'de, undated', says: 'Alice Example <alice@example.org> schrieb:' },
    {
      form: 'it, wrapped',
      says: 'Il 4 marzo 2025 10:12:00 CET, "Alice Example"\n<alice@example.org> ha scritto:',
    },
  ]),
];

const webmail: Reply[] = [
  ...bare('GMX and WEB.DE', plain, [
    {
      form: 'de, block that begins with the date',
      says: 'Gesendet: Dienstag, 04. März 2025 um 10:12 Uhr\nVon: "Alice Example" <alice@example.org>\nAn: bob@example.net\nBetreff: Plan',
    },
  ]),
  ...above('Roundcube', flowed, '> ', [
    { form: 'en', says: 'On 2025-03-04 10:12, Alice Example wrote:' },
    { form: 'de', says: 'Am 2025-03-04 10:12, schrieb Alice Example:' },
    { form: 'es', says: 'El 2025-03-04 10:12, Alice Example escribió:' },
    { form: 'nl', says: 'Alice Example schreef op 2025-03-04 10:12:' },
  ]),
  ...above('Horde', flowed, '> ', [
    { form: 'en, undated', says: 'Quoting Alice Example <alice@example.org>:' },
    { form: 'de, undated', says: 'Zitat von Alice Example <alice@example.org>:' },
    { form: 'fr, undated, no address', says: 'Alice Example a écrit :' },
  ]),
];

const unix: Reply[] = [
  ...above('Mutt', plain, '> ', [
    { form: 'en', says: 'On Tue, Mar 04, 2025 at 10:12:00AM +0100, Alice Example wrote:' },
  ]),
  ...above('Mutt', plain, '| ', [
    { form: 'en, bars', says: 'On Tue, Mar 04, 2025 at 10:12:00AM +0100, Alice Example wrote:' },
    { form: 'de, bars, undated', says: 'Alice Example schrieb:' },
  ]),
  ...above('Claws Mail', plain, '> ', [
    {
      form: 'en, date and name on their own lines',
      says: 'On Tue, 4 Mar 2025 10:12:00 +0100\nAlice Example <alice@example.org> wrote:',
    },
    {
      form: 'en, date and name on their own lines, no address',
      says: 'On Tue, 4 Mar 2025 10:12:00 +0100\nAlice Example wrote:',
    },
  ]),
  ...above('Evolution', plain, '> ', [
    { form: 'de', says: 'Am Dienstag, dem 04.03.2025 um 10:12 +0100 schrieb Alice Example:' },
    { form: 'es', says: 'El mar, 04-03-2025 a las 10:12 +0100, Alice Example escribió:' },
  ]),
  ...above('KMail', plain, '> ', [
    { form: 'en', says: 'On Tuesday, 4 March 2025 10:12:00 CET Alice Example wrote:' },
    {
      form: 'pt, wrapped',
      says: 'Em terça-feira, 4 de março de 2025, às 10:12:00 CET, Alice Example\nda Direção Geral escreveu:',
    },
  ]),
  ...above('Gnus', plain, '| ', [
    { form: 'en, bars, undated', says: 'Alice Example <alice@example.org> writes:' },
  ]),
];

const japanese: Reply[] = [
  ...above('Becky!', plain, '> ', [
    {
      form: 'ja, date and name on their own lines',
      says: 'On Tue, 04 Mar 2025 10:12:00 +0900\nアリス <alice@example.org> wrote:',
    },
    { form: 'ja, undated', says: 'アリスさんは書きました:' },
    { form: 'ja, undated, full-width colon', says: 'アリスさんのメール：' },
  ]),
  ...above('Becky!', plain, '＞', [
    { form: 'ja, full-width marks', says: '2025年3月4日 10:12、アリスさんは書きました：' },
  ]),
];

const emphasised: Reply[] = [
  ...above('eM Client', plain, '> ', [
    {
      form: 'en, between asterisks',
      says: '*On Tue, 4 Mar 2025 at 10:12, Alice Example <alice@example.org> wrote:*',
    },
    { form: 'de, between asterisks, undated', says: '*Alice Example schrieb:*' },
  ]),
  ...bare('eM Client', plain, [
    {
      form: 'en, between asterisks, no marks',
      says: '*On Tue, 4 Mar 2025 at 10:12, Alice Example <alice@example.org> wrote:*',
    },
    {
      form: 'fr, between asterisks, wrapped, no marks',
      says: '*Le mar. 4 mars 2025 à 10:12, Alice Example <alice@example.org> a\nécrit :*',
    },
  ]),
];

const fromHtml: Reply[] = [
  {
    program: 'Yahoo Mail',
    form: 'HTML alone, no blockquote',
    raw: html(
      '<div>Fine.</div><br><div class="yahoo_quoted"><div>On Tuesday, March 4, 2025 at 10:12:00 AM GMT+1, Alice Example &lt;alice@example.org&gt; wrote:</div><div><br></div><div>Shall we?</div></div>',
    ),
    newContent: 'Fine.',
    quotedStart:
      'On Tuesday, March 4, 2025 at 10:12:00 AM GMT+1, Alice Example <alice@example.org> wrote:',
  },
  {
    program: 'Proton Mail',
    form: 'en, HTML alone',
    raw: html(
      '<div>Fine.</div><div class="protonmail_quote">On Tuesday, March 4th, 2025 at 10:12, Alice &lt;alice@example.org&gt; wrote:<br><blockquote>Shall we?</blockquote></div>',
    ),
    newContent: 'Fine.',
    quotedStart: 'On Tuesday, March 4th, 2025 at 10:12, Alice <alice@example.org> wrote:',
  },
  {
    program: 'Apple Mail',
    form: 'de, HTML alone, attribution within the blockquote',
    raw: html(
      '<div>Ja.<br><blockquote type="cite"><div>Am 04.03.2025 um 10:12 schrieb Alice &lt;alice@example.org&gt;:</div><br><div>Wollen wir?</div></blockquote></div>',
    ),
    newContent: 'Ja.',
    quotedStart: '> Am 04.03.2025 um 10:12 schrieb Alice <alice@example.org>:',
  },
];

export const replies: Reply[] = [
  ...gmail,
  ...thunderbird,
  ...thunderbirdBelow,
  ...apple,
  ...yahoo,
  ...outlook,
  ...mobile,
  ...webmail,
  ...unix,
  ...japanese,
  ...emphasised,
  ...fromHtml,
];

/** Texts that look like a quotation and are not: all of each is new. */
export const nothingQuoted: [what: string, text: string][] = [
  ['a sentence that ends in a verb of attributions', 'As Alice wrote:\n\nWe shall see.'],
  [
    'a table with bars',
    'The prices on 4 March 2025:\n\n| item | price |\n|------|-------|\n| tea  | 2     |',
  ],
  ['a list after an announcement', 'Alice wrote these in 2025:\n\n- one\n- two'],
  ['times of a meeting', 'On Tuesday at 10:12 we meet here:\n\nRoom 4\nSecond floor'],
  ['a German sentence', 'Am Montag schrieb ich dir schon.\n\nHast du es gelesen?'],
  ['a label of its own', 'Date: 4 March\nPlace: here\n\nSee you'],
  ['a pipe in a command', 'Run this:\n\n| grep foo\n\nand tell me.'],
];
