// Finds signatures in the sender's own text: text below `-- ` (RFC 3676 4.3), lines added by a
// phone or program, footers of mailing lists, and notices of confidentiality. A closing greeting
// and name stay in the text. Pure and linear.
import { plainLine } from './header-block.ts';

const blankLine = /^\s*$/;
const maxLineCharacters = 300;
/** Longest signature in lines below `-- `; a longer text belongs to the mail. */
const maxSignatureLines = 20;

/** The delimiter of RFC 3676 4.3. */
const delimiter = /^-- $/;
/** Delimiters that lost their space. Senders also write them between parts of a text. */
const looseDelimiter = /^(?:--|—|–)[ \t]?$/;
/** Longest signature below a loose delimiter or a rule, in lines that are not empty. */
const mostLooseLines = 8;
const longestLooseLine = 120;
/** Fewest words of a sentence. Signatures have fewer words before a full stop. */
const leastSentenceWords = 5;
/** A rule that mailing lists and old programs put above their footer. */
const footerRule = /^_{4,120}\s*$/;
const footerWords =
  /mailing[ -]?list|mailman|unsubscribe|listinfo|subscri(?:be|ption)|google groups|@(?:lists?|googlegroups)\.|\/\/lists?\.|abmelden|désinscri/iu;
/** A question, or a sentence about the writer: programs add neither. */
const senderWords = /[?？]\s*$|(?<!\S)(?:i|me|my|ich|mich|mir|mein|je|moi|mon)(?![^\s,.!])/iu;

const device =
  '(?:i ?phone|i ?pad|i ?pod|ipod touch|galaxy|samsung|android|blackberry|nokia|huawei|xiaomi|redmi|motorola|sony|htc|lg|pixel|oneplus|windows phone|smartphone|handy|mobil|mobile|móvil|portable|tablet|telefon|phone|device|mac|apple|yahoo|gmx|web\\.de|proton|gmail|outlook|hotmail|aol|mail|e-?mail|spark|airmail|edison|canary|aqua|bluemail|blue mail|k-9|fairemail|thunderbird|typeapp|nine|boxer|mailbox|superhuman|front|hey|zoho|yandex|яндекс|почт|телефон|смартфон|phản|điện thoại)';
const sentFrom = [
  'sent (?:from|by|via|with|using)|get|download|posted (?:from|via)|reply sent from',
  'von (?:meinem|unterwegs|mir)|gesendet (?:von|mit|über|vom)|diese nachricht wurde von meinem|outlook für',
  "envoyé (?:de(?:puis)?|à partir|avec|par|d')|envoyée? depuis|téléchargez|obtenez",
  'enviado (?:desde|do|de|da|a partir|com|con|via)|enviada do|obtener|obter|descargar',
  'inviato (?:da|dal|con|tramite|dall)|scarica|ottieni|verzonden|verstuurd|gestuurd|download|ontvang',
  'skickat från|skickades från|sendt fra|sendt med|send fra|hämta|hent|lähetetty|hanki',
  'wysłan[eoay] (?:z|ze|za)|pobierz|odesláno (?:z|ze)|odoslané z|poslano (?:s|z|iz)|trimis (?:de|din|cu)|elküldve|küldve',
  'отправлено (?:с|из|через)|надіслано (?:з|із)|изпратено от|στάλθηκε (?:από|με)|gönderildi|gönderilmiştir',
  'được gửi từ|gửi từ|dikirim dari|ส่งจาก|أُرسلت من|أرسلت من|מאת ה|נשלח מה?',
].join('|');
const mobileLine = new RegExp(`^[\\s*_>]{0,3}(?:${sentFrom})(?!\\p{L})[^\\n]{0,160}$`, 'iu');
const mobileDevice = new RegExp(device, 'iu');
const mobileElsewhere =
  /^(?:[^\n]{0,40}(?:から送信|から送信されました)|(?:發自|发自|從我|从我|来自|來自|发送自)[^\n]{1,60}|(?:나의 |내 )?[^\n]{1,40}에서 보냄|[^\n]{1,40}(?:dan|den|umdan|imden) gönderildi|von unterwegs gesendet|mobil gesendet|vom handy gesendet|outlook (?:für|pour|para|per|voor) (?:ios|android)[^\n]{0,80})\.?\s*$/iu;
const mostMobileWords = 14;
const mostMobileCharacters = 200;

const notice = new RegExp(
  `^[\\s*_]{0,3}(?:${[
    'confidentiality (?:notice|note)|confidential(?:ity)?:|disclaimer|legal (?:notice|disclaimer)|important notice',
    'this (?:e-?mail|message|communication|transmission)(?: message)?,?(?: and| \\(| may| is| contains| including| has)[^\\n]{0,120}(?:confidential|intended|privileged|attach)',
    'the information (?:contained )?in this (?:e-?mail|message|communication)|the contents of this (?:e-?mail|message)',
    'please consider the environment|think before you print|notice:? this (?:e-?mail|message)',
    'diese (?:e-?mail|nachricht) (?:enthält|kann|ist|und)[^\\n]{0,120}(?:vertraulich|bestimmt)|vertraulichkeitshinweis|haftungsausschluss',
    'ce (?:message|courriel|mail|e-mail)[^\\n]{0,120}(?:confidentiel|destin)|avis de confidentialité',
    'aviso (?:legal|de confidencialidad)|este (?:mensaje|correo|e-mail)[^\\n]{0,120}(?:confidencial|destinat)|esta mensagem[^\\n]{0,120}confidenci',
    '(?:il presente|questo) messaggio[^\\n]{0,120}(?:riservat|destinat|confidenzial)|avviso di riservatezza',
    'dit (?:e-?mail)?bericht[^\\n]{0,120}(?:vertrouwelijk|bestemd)|ta wiadomość[^\\n]{0,120}poufn',
  ].join('|')})`,
  'iu',
);

const isBlank = (line: string | undefined) => line === undefined || blankLine.test(line);

function isMobileLine(line: string): boolean {
  const words = plainLine(line).trim();
  if (
    words.length > mostMobileCharacters ||
    words.split(/\s+/, mostMobileWords + 1).length > mostMobileWords
  ) {
    return false;
  }
  return mobileElsewhere.test(words) || (mobileLine.test(words) && mobileDevice.test(words));
}
/** Returns the line after the last line with words in `[start, end)`; `start` without words. */
function trimEnd(lines: readonly string[], start: number, end: number): number {
  let last = end;
  while (last > start && isBlank(lines[last - 1])) last -= 1;
  return last;
}

/** Returns the start of the last paragraph in `[start, end)`. The last line has words. */
function lastParagraph(lines: readonly string[], start: number, end: number): number {
  let at = end;
  const first = Math.max(start, end - maxSignatureLines);
  while (at > first && !isBlank(lines[at - 1])) at -= 1;
  return at;
}

/** Returns the delimiter in `[start, end)` with a short text below it, or `end`. */
function findDelimiter(lines: readonly string[], start: number, end: number): number {
  const first = Math.max(start, end - maxSignatureLines);
  for (let at = first; at < end; at += 1) {
    const line = lines[at] ?? '';
    if (line.length > maxLineCharacters) continue;
    if (delimiter.test(line)) return at;
    const isLoose = looseDelimiter.test(line);
    if (!isLoose && !footerRule.test(line)) continue;
    const below = lines.slice(at + 1, end);
    if (looksLikeSignature(below) && (isLoose || below.some(isFooter))) return at;
  }
  return end;
}

/** Returns true for a few short lines that form no sentence of the sender. */
function looksLikeSignature(below: readonly string[]): boolean {
  const written = below.filter((line) => !isBlank(line));
  return (
    written.length <= mostLooseLines && written.every((line) => isFooter(line) || !isProse(line))
  );
}

/** Returns true for a long line, and for a sentence. */
function isProse(line: string): boolean {
  if (line.length > longestLooseLine) return true;
  const words = line.trim().split(/\s+/);
  return words.length >= leastSentenceWords && /[.!?…:。！？]["'”’)»]?$/.test(line.trim());
}

const isFooter = (line: string) =>
  line.length <= maxLineCharacters && footerWords.test(line) && !senderWords.test(line);

/**
 * Returns the line at which the signature in `[start, end)`, a run of the sender's own lines,
 * begins; `end` without a signature.
 */
export function findSignature(lines: readonly string[], start: number, end: number): number {
  let found = trimEnd(lines, start, end);
  for (let steps = 0; steps < maxSignatureLines && found > start; steps += 1) {
    const from = lastParagraph(lines, start, found);
    const last = lines[found - 1] ?? '';
    if (isMobileLine(last)) found -= 1;
    else if (notice.test(plainLine((lines[from] ?? '').slice(0, maxLineCharacters)))) found = from;
    else break;
    found = trimEnd(lines, start, found);
  }
  const above = findDelimiter(lines, start, found);
  const own = trimEnd(lines, start, above);
  return own === trimEnd(lines, start, end) ? end : own;
}
