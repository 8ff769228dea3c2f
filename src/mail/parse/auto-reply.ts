// Decides by the header alone whether a machine sent a mail in answer to another, and which kind it is
// (RFC 3834, RFC 6522, headers of the large systems). Our own automatic answers never go to such a mail, so a
// weak sign counts only with a second one.

import type { HeaderBlock } from '../mime/header-fields.ts';
import type { AutoReplyReason } from '../mime/parsed-mail.ts';
import { noticeSubject } from './bounce/notice-words.ts';

export interface AutoReplySigns {
  header: HeaderBlock;
  /** Media type in lower case, without parameters. */
  contentType: string;
  reportType: string | null;
  subject: string;
  fromEmail: string;
  /** MAIL FROM: empty or null for the null return path, undefined if unknown. */
  envelopeFrom?: string | null;
}

export interface AutoReply {
  isAutoReply: boolean;
  autoReplyReason: AutoReplyReason | null;
}

/** Fields that only auto-responders set, with any value except `no` and `none`. */
const responderHeaders = [
  'x-autoreply',
  'x-auto-reply',
  'x-autorespond',
  'x-autoresponse',
  'x-autoresponder',
  'x-auto-response-from',
  'x-autoreply-from',
  'x-mail-autoreply',
  'x-vacation',
];
const outOfOfficeSubject =
  /^(?:(?:re|aw|antw|sv|vs|r|res)\s?:\s*)?(?:\[?out of (?:the )?office|automatic reply|auto(?:matic)?[- ]?reply|i am out of|away from (?:the|my) (?:office|mail)|on (?:vacation|holiday|leave)|vacation (?:reply|message|response)|abwesenheit|automatische antwort|abwesend|r[ée]ponse automatique|absence du bureau|absent du bureau|absence\s?:|respuesta autom[áa]tica|fuera de la oficina|ausente|risposta automatica|fuori (?:sede|ufficio)|resposta autom[áa]tica|ausência|fora do escrit[óo]rio|automatisch(?:e)? (?:antwoord|beantwoording)|afwezig|niet aanwezig|autosvar|automatiskt svar|automatisk svar|fr[åa]nvaro|frav[æa]r|automaattinen vastaus|poissa|automatyczna odpowied|autoodpowied|poza biurem|automatick[áaé]|nep[řr][íi]tomn|автоответ|автоматический ответ|自動返信|自动答复|自动回复|자동 회신|不在)/i;
const answerSubject = /^(?:re|aw|antw|sv|vs|r|res)\s?:/i;
const daemonSender = /^(?:mailer-daemon|postmaster|mail-daemon|mdaemon|bounces?)@/i;

/** Returns the keyword of Auto-Submitted: `auto-replied` of `auto-replied (vacation)`. */
function firstWord(value: string | null): string {
  return /^[a-z-]+/.exec((value ?? '').toLowerCase())?.[0] ?? '';
}

function isSet(value: string | null): boolean {
  return value !== null && !['no', 'none', 'false', '0'].includes(value.toLowerCase());
}

function hasNullReturnPath(signs: AutoReplySigns): boolean {
  if (signs.envelopeFrom !== undefined) {
    return signs.envelopeFrom === null || ['', '<>'].includes(signs.envelopeFrom);
  }
  return signs.header.first('return-path') === '<>';
}

function isDeliveryStatus(signs: AutoReplySigns): boolean {
  if (signs.reportType === 'delivery-status') return true;
  if (signs.contentType === 'message/delivery-status') return true;
  if (signs.header.first('x-failed-recipients') !== null) return true;
  // qmail and older systems send notices that are not RFC 3464 reports. Absence notes quote the subject that
  // they answer.
  return (
    noticeSubject.test(signs.subject) &&
    !answerSubject.test(signs.subject) &&
    !outOfOfficeSubject.test(signs.subject) &&
    (daemonSender.test(signs.fromEmail) || hasNullReturnPath(signs))
  );
}

function isReadReceipt(signs: AutoReplySigns): boolean {
  return (
    signs.reportType === 'disposition-notification' ||
    signs.contentType === 'message/disposition-notification'
  );
}

/** Counts signs that a person's mail may carry too: two of them are needed. */
function countWeakSigns(signs: AutoReplySigns): number {
  const { header } = signs;
  const precedence = firstWord(header.first('precedence'));
  // Lists and ticket systems set these for other reasons.
  if (header.first('list-id') !== null || precedence === 'list') return 0;
  return [
    ['bulk', 'junk'].includes(precedence),
    isSet(header.first('x-auto-response-suppress')),
    hasNullReturnPath(signs),
    outOfOfficeSubject.test(signs.subject),
  ].filter(Boolean).length;
}

function isAutomatic(signs: AutoReplySigns): boolean {
  const { header } = signs;
  // RFC 3834 5: every value but `no` forbids an answer, `auto-generated` included; Exchange sends its
  // out-of-office notes with that one.
  const submitted = firstWord(header.first('auto-submitted'));
  if (submitted !== '' && submitted !== 'no') return true;
  if (responderHeaders.some((name) => isSet(header.first(name)))) return true;
  if (/^auto[-_]?reply/i.test(header.first('precedence') ?? '')) return true;
  return countWeakSigns(signs) >= 2;
}

function isOutOfOffice({ header, subject }: AutoReplySigns): boolean {
  return (
    outOfOfficeSubject.test(subject) ||
    isSet(header.first('x-vacation')) ||
    /\(?vacation/i.test(header.first('auto-submitted') ?? '')
  );
}

/**
 * Classifies a mail. `delivery-status` and `read-receipt` come before the two kinds of answers; an automatic
 * mail that mentions no absence is an `auto-response`.
 */
export function classifyAutoReply(signs: AutoReplySigns): AutoReply {
  const reason = findReason(signs);
  return { isAutoReply: reason !== null, autoReplyReason: reason };
}

function findReason(signs: AutoReplySigns): AutoReplyReason | null {
  if (isDeliveryStatus(signs)) return 'delivery-status';
  if (isReadReceipt(signs)) return 'read-receipt';
  if (!isAutomatic(signs)) return null;
  return isOutOfOffice(signs) ? 'out-of-office' : 'auto-response';
}
