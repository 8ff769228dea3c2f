// Finds the beginning of a mail that is quoted or forwarded as a whole: the header block (`From:`,
// `Sent:`) in many languages, the rule above (`-----Original Message-----`), and the lines by which
// help desks ask for answers above the line. Pure and linear: reads at most twelve lines below a
// label.

/** Labels of each field, in the languages of Outlook, Apple Mail, Gmail and Thunderbird. */
const labels = {
  from: [
    'from|von|de|de la|da|van|fra|från|od|z|lähettäjä|kimden|gönderen|feladó|expéditeur|remitente|remetente',
    'mittente|afzender|avsändare|avsender|afsender|absender|odesílatel|nadawca|saatja|no|nuo|pošiljatelj|šalje',
    'от|от кого|від|від кого|από|من|מאת|发件人|寄件者|寄件人|差出人|送信者|보낸 사람|보낸사람|từ|người gửi|จาก|dari|desde|nork|frá',
  ],
  date: [
    'sent|date|datum|gesendet|am|envoyé|envoyé le|enviado|enviada|enviado el|enviado em|enviada em|data|fecha',
    'verzonden|inviato|inviata|sendt|skickat|dato|dags|wysłano|lähetetty|päiväys|päivämäärä|gönderme tarihi|gönderildi|tarih',
    'elküldve|dátum|odesláno|odoslané|trimis|saadetud|kuupäev|nosūtīts|datums|išsiųsta|poslano|enviat|bidalia',
    'отправлено|дата|надіслано|изпратено|στάλθηκε|ημερομηνία|تاريخ الإرسال|أُرسلت|التاريخ|נשלח|תאריך',
    '发送时间|发送日期|日期|時間|时间|寄件日期|傳送時間|送信日時|日付|日時|보낸 날짜|날짜|đã gửi|ngày|ส่ง|วันที่|dikirim|tanggal|received',
  ],
  to: [
    'to|an|à|a|para|pour|aan|til|till|do|naar|destinataire|destinatario|destinatário|empfänger|vastaanottaja|kime|alıcı',
    'címzett|adressaat|kellele|kam|kuriem|komu|pro|către|za|prima|per|nori|kepada|đến|tới|người nhận|ถึง',
    'кому|до|προς|إلى|אל|收件人|收件者|宛先|받는 사람|받는사람|viðtakandi',
  ],
  subject: [
    'subject|betreff|objet|sujet|asunto|assunto|onderwerp|oggetto|emne|ämne|temat|aihe|konu|tárgy|předmět|predmet',
    'subiect|teema|pealkiri|temats|tēma|tema|assumpte|gaia|perihal|subjek|chủ đề|tiêu đề|เรื่อง|efni',
    'тема|относно|θέμα|الموضوع|נושא|主题|主題|主旨|件名|제목|re',
  ],
} as const;
type Field = keyof typeof labels;

const blankLine = /^\s*$/;
const maxLabelLine = 400;
const maxRuleCharacters = 160;
const maxBlockLines = 12;
/** Longest text before the colon of a label in any language. */
const maxLabelCharacters = 30;
const neededFields = 3;
/**
 * A rule introduces lines with `>` if the first of them is fewer lines than this below the rule.
 */
const mostAttributionLines = 7;

/** Emphasis before a label, since text made from HTML may have `*From:*`. */
const lead = '^[*_ \\t]{0,4}';
const fieldsByLabel = new Map<string, Set<Field>>();
for (const [field, words] of Object.entries(labels)) {
  for (const word of words.flatMap((line) => line.split('|'))) {
    const fields = fieldsByLabel.get(word) ?? new Set<Field>();
    fieldsByLabel.set(word, fields.add(field as Field));
  }
}
const knownLabel = new RegExp(
  `${lead}([^:：]{1,${maxLabelCharacters}}?)[ \\t]{0,8}\\*?[ \\t]{0,4}[:：]`,
  'u',
);
/** A short text before a colon, which may be a label in a language that `labels` lacks. */
const anyLabel = new RegExp(
  `${lead}[\\p{L}\\p{M}][\\p{L}\\p{M} '’.-]{0,${maxLabelCharacters}}\\*?[ \\t]{0,4}[:：](?!//)`,
  'u',
);
const senderOrDate = /[^\s@]@[^\s@]|\d{1,4}[^\n]{1,60}\d{1,2}[:.]\d{2}/;

const ascii = /^[\t\x20-\x7e]*$/;
/** Removes direction marks, zero-width characters and hard spaces around names. */
export function plainLine(line: string): string {
  if (ascii.test(line)) return line;
  return line
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '')
    .replaceAll('\u00a0', ' ');
}

const isBlank = (line: string | undefined) => line === undefined || blankLine.test(line);

const noFields: ReadonlySet<Field> = new Set();
const fieldCount = Object.keys(labels).length;

function fieldsOf(line: string): ReadonlySet<Field> {
  if (!(line.includes(':') || line.includes('：'))) return noFields;
  const found = knownLabel.exec(plainLine(line.slice(0, maxLabelLine)))?.[1];
  return (found && fieldsByLabel.get(found.toLowerCase())) || noFields;
}

/** Labels of a header block, and whether the author's line has an address. */
interface Labels {
  found: ReadonlySet<Field>;
  hasAddress: boolean;
}

/**
 * Reads the labels of a header block that starts at line `at`. Returns null unless three lines name
 * fields, among them the author, and the date or subject. Lines without a label continue the line
 * above.
 */
function readBlock(
  lines: readonly string[],
  at: number,
  fieldsAt: (line: number) => ReadonlySet<Field>,
): Labels | null {
  const found = new Set(fieldsAt(at));
  if (found.size === 0) return null;
  let count = 1;
  let hasAddress = false;
  for (let next = at; next < at + maxBlockLines && !isBlank(lines[next]); next += 1) {
    const fields = fieldsAt(next);
    const size = found.size;
    for (const field of fields) found.add(field);
    if (found.size > size) count += 1;
    if (fields.has('from')) hasAddress ||= (lines[next] ?? '').slice(0, maxLabelLine).includes('@');
  }
  const isBlock =
    count >= neededFields && found.has('from') && (found.has('date') || found.has('subject'));
  return isBlock ? { found, hasAddress } : null;
}

/** Returns true if a header block starts at line `at`, regardless of the lines above. */
export function startsHeaderBlock(lines: readonly string[], at: number): boolean {
  return readBlock(lines, at, (line) => fieldsOf(lines[line] ?? '')) !== null;
}

/**
 * Returns true if a quoted mail starts with a header block at line `at`. Travel forms have `From:`,
 * `To:` and `Date:` too, and contact forms a subject. So a block without a rule counts only below
 * an answer or a forward mark, and with a subject or an address. A plain rule is not enough, as
 * forms draw rules too.
 */
function startsQuotedMail(
  lines: readonly string[],
  at: number,
  fieldsAt: (line: number) => ReadonlySet<Field>,
  mayBeBare: boolean,
): boolean {
  const block = readBlock(lines, at, fieldsAt);
  if (!block) return false;
  const { found, hasAddress } = block;
  let above = at - 1;
  while (above >= 0 && isBlank(lines[above])) above -= 1;
  const rule = lines[above] ?? '';
  if (isForwardRule(rule)) {
    return mayBeBare || isMailRule(rule) || (found.size === fieldCount && hasAddress);
  }
  return mayBeBare && (found.has('subject') || hasAddress);
}

/**
 * Returns true for three lines that begin like a label in any language (a short text and a colon),
 * at least one with an address or a date with time.
 */
function startsUnknownBlock(lines: readonly string[], at: number): boolean {
  const shown = lines
    .slice(at, at + neededFields)
    .map((line) => plainLine(line.slice(0, maxLabelLine)));
  return (
    shown.length === neededFields &&
    shown.every((line) => anyLabel.test(line)) &&
    shown.some((line) => senderOrDate.test(line))
  );
}

const plainRule = /^[ \t]{0,4}[-_=*—―]{3,120}[ \t]*$/;
/**
 * The words between two rules neither begin nor end with a character of rules: otherwise matching
 * takes cubic time.
 */
const wordedRule =
  /^[ \t]{0,4}[-_=—]{2,40}[ \t]?([^-_=—\s](?:[^\n]{0,58}[^-_=—\s])?)[ \t]?[-_=—]{2,40}[ \t]*$/;
/** Words of a rule that starts a quotation without a header block. */
const ruleWords = new RegExp(
  [
    'original (?:message|mail|e-?mail|appointment)|forwarded (?:message|mail)|forwarded by|(?:begin |start )?forward',
    'ursprüngliche (?:nachricht|mail|e-mail)|originalnachricht|original-?nachricht|weitergeleitete',
    "message (?:d'origine|d’origine|original|transféré|transmis)|e-mail d'origine|courriel original|message réexpédié",
    'mensaje (?:original|reenviado)|mensagem (?:original|encaminhada)|messaggio (?:originale|inoltrato)',
    'oorspronkelijk bericht|origineel bericht|doorgestuurd bericht',
    'opprinnelig melding|oprindelig (?:meddelelse|besked)|original(?:t )?meddelande|ursprungligt meddelande',
    'videresendt|vidarebefordrat|alkuperäinen viesti|välitetty viesti|lähetetty viesti',
    '(?:wiadomość )?oryginalna|pierwotna wiadomość|wiadomość (?:przekazana|oryginalna)|treść przekazanej',
    'původní (?:zpráva|e-mail)|pôvodná správa|přeposlaná zpráva|eredeti üzenet|továbbított üzenet|mesaj original',
    'исходное сообщение|пересылаемое сообщение|пересланное сообщение|переадресован|оригинальное сообщение',
    'початкове повідомлення|оригинално съобщение|αρχικό μήνυμα|orijinal (?:mesaj|ileti)|özgün ileti|iletilen',
    '原始邮件|原始郵件|转发邮件|轉寄郵件|转发的邮件|元のメッセージ|転送|원본 메시지|원본 메일|전달된 메시지',
    'tin nhắn gốc|thư gốc|pesan asli|הודעה מקורית|הודעה שהועברה|الرسالة الأصلية|رسالة معاد توجيهها',
  ].join('|'),
  'iu',
);
const announcement = new RegExp(
  `^[ \\t]{0,4}(?:${[
    'begin forwarded message|start of forwarded message|inline forwarded message',
    'début du message (?:transféré|réexpédié)|anfang der weitergeleiteten (?:nachricht|e-mail)',
    'inicio del mensaje reenviado|início da mensagem (?:reencaminhada|encaminhada)|inizio messaggio inoltrato',
    'begin doorgestuurd bericht|doorgestuurd bericht|vidarebefordrat brev|start på videresendt besked',
    'videresendt melding|välitetty viesti alkaa|początek przekazywanej wiadomości|začátek přeposlané zprávy',
    'начало переадресованного сообщения|början på vidarebefordrat|以下是转发的邮件|开始转发的邮件|転送されたメッセージ|전달된 메시지',
  ].join('|')})\\s{0,3}[:：]?\\s*$`,
  'iu',
);

/**
 * Returns true for `-----Original Message-----`, `________` and `Begin forwarded message:`, which
 * begin the quotation below.
 */
export function isForwardRule(line: string): boolean {
  if (line.length > maxRuleCharacters) return false;
  return plainRule.test(line) || wordedRule.test(line) || announcement.test(line);
}

/** The rule that Outlook draws above a quoted mail. */
const outlookRule = /^[ \t]{0,4}_{20,120}[ \t]*$/;

/** Returns true for a rule that only mail programs draw. */
function isMailRule(line: string): boolean {
  if (outlookRule.test(line) || announcement.test(line)) return true;
  const words = wordedRule.exec(line)?.[1];
  return words !== undefined && ruleWords.test(words);
}

/** Returns true if lines with `>` follow, between which the sender may answer. */
const introducesMarks = (lines: readonly string[], at: number) =>
  lines.slice(at + 1, at + mostAttributionLines).some((line) => /^[ \t]{0,3}[>＞]/.test(line));

/**
 * Returns true if a rule at line `at` begins a quoted mail: by the words of the rule, or by the
 * labels below it.
 */
function opensQuotedMail(lines: readonly string[], at: number, mayBeBare: boolean): boolean {
  const line = lines[at] ?? '';
  if (line.length > maxRuleCharacters) return false;
  if (announcement.test(line)) return true;
  if (!/^[ \t]*[-_=*—―]/.test(line)) return false;
  const words = wordedRule.exec(line)?.[1];
  if (words !== undefined && ruleWords.test(words)) return !introducesMarks(lines, at);
  if (!mayBeBare || (words === undefined && !plainRule.test(line))) return false;
  let next = at + 1;
  while (next < at + 3 && isBlank(lines[next])) next += 1;
  return startsUnknownBlock(lines, next);
}

const replyAbove = new RegExp(
  [
    '^[ \\t]{0,4}#{2,3}-[^\\n]{1,200}-#{2,3}',
    '(?:reply|write|respond|type your (?:reply|response)|answer) above this line',
    'antworten sie (?:bitte )?(?:oberhalb|über) dieser (?:linie|zeile)|oberhalb dieser (?:linie|zeile) antworten',
    'répondre au-dessus de cette ligne|réponse au-dessus de cette ligne|responda por encima de esta línea',
    'responda acima desta linha|rispondi sopra questa (?:linea|riga)|antwoord boven deze (?:lijn|regel)',
  ].join('|'),
  'iu',
);
/** The frame that Notes draws around the header of a quoted mail. */
const notesFrame = /^\|-{6,80}>$/;

const asksAbove = (line: string) =>
  line.length <= maxLabelLine && (replyAbove.test(line) || notesFrame.test(line));

/**
 * Returns the first line of a quoted or forwarded mail, or of the rules above. All text from there
 * is quoted. Returns the number of lines if all text is new. `mayBeBare`: the header block needs no
 * rule above it.
 */
export function findQuotedTail(lines: readonly string[], mayBeBare: boolean): number {
  const fields = lines.map(fieldsOf);
  const fieldsAt = (line: number) => fields[line] ?? noFields;
  const at = lines.findIndex(
    (text, line) =>
      !isBlank(text) &&
      (startsQuotedMail(lines, line, fieldsAt, mayBeBare) ||
        opensQuotedMail(lines, line, mayBeBare) ||
        asksAbove(text)),
  );
  if (at < 0) return lines.length;
  let start = at;
  while (start > 0 && (isBlank(lines[start - 1]) || isForwardRule(lines[start - 1] ?? '')))
    start -= 1;
  return start;
}
