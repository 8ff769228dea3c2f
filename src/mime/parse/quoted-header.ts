// Recognizes the header block that mail programs put above a mail they quote or forward whole
// (Outlook, Gmail forwards, Thunderbird), by its labels in many languages. Data and two predicates.

const fromLabels =
  'from|von|de|van|da|fra|från|od|expéditeur|lähettäjä|kimden|feladó|от|от кого|发件人|寄件者|差出人|보낸 사람';
const otherLabels = [
  'sent|date|gesendet|datum|envoyé|enviado|enviada|enviado el|enviado em|enviada em|verzonden|inviato|data|fecha|sendt|skickat|dato|wysłano|lähetetty|gönderme tarihi|gönderildi|elküldve|отправлено|дата|发送时间|日期|寄件日期|送信日時|日付|보낸 날짜|날짜',
  'to|an|à|a|para|aan|til|till|do|destinataire|vastaanottaja|kime|címzett|кому|收件人|收件者|宛先|받는 사람',
  'subject|betreff|objet|asunto|assunto|onderwerp|oggetto|emne|ämne|temat|aihe|konu|tárgy|тема|主题|主旨|件名|제목',
];
/** Bold marks of text made from HTML around the label: `*From:*`. */
const label = (words: string) =>
  new RegExp(`^[*_ \\t\\u00a0]{0,4}(?:${words})[ \\t\\u00a0]{0,2}\\*?[ \\t]{0,2}[:：]`, 'iu');
const fromLine = label(fromLabels);
const otherLines = otherLabels.map(label);

const maxBlockLines = 10;
const neededLabels = 2;
const rule = /^[ \t]{0,4}(?:[-_=*]{3,80}|[-_=]{2,40}[^\n]{1,60}?[-_=]{2,40})[ \t]*$/;
const announcement =
  /^(?:begin forwarded message|début du message (?:transféré|réexpédié)|anfang der weitergeleiteten (?:nachricht|e-mail)|inicio del mensaje reenviado|inizio messaggio inoltrato|doorgestuurd bericht)\s*:?\s*$/i;

/** Whether line `at` is `From: …` with at least two more labels in the lines right below it. */
export function startsHeaderBlock(lines: string[], at: number): boolean {
  if (!fromLine.test(lines[at] ?? '')) return false;
  const below = lines.slice(at + 1, at + maxBlockLines);
  const found = otherLines.filter((expression) => below.some((line) => expression.test(line)));
  return found.length >= neededLabels;
}

/** `-----Original Message-----`, `________`, `Begin forwarded message:`: part of what is quoted. */
export function isForwardRule(line: string): boolean {
  return line.length <= 160 && (rule.test(line) || announcement.test(line.trim()));
}
