// Rules for refusals of the form of our mail. Tried first, because providers mix these words with
// words about spam and policy, and answer with the code 5.7.1.
import { causeRules, type ReplyRule } from './rule.ts';

const dkim = causeRules('duplicate-dkim', 'protocol', [
  [
    'amazon ses',
    /(?:duplicate|multiple|more than one|second|repeated) (?:\S{1,20} ){0,2}['"]?dkim-?[ ]?signature|dkim-?[ ]?signature\b.{0,40}(?:duplicate|more than once|multiple|repeated|already)/i,
    "dot: 554 Transaction failed: Duplicate header 'DKIM-Signature'.",
  ],
]);

const duplicate = causeRules('duplicate-header', 'protocol', [
  [
    'gmail',
    /(?:duplicate|duplicated|multiple|repeated|more than one|two) (?:\S{1,30} ){0,2}(?:header|headers|header fields?)\b(?! (?:size|lines))/i,
    'dot: 550 5.7.1 [192.0.2.1] Our system has detected that this message is not RFC 5322 compliant: duplicate headers. To reduce the amount of spam sent to Gmail, this message has been blocked. Please review RFC 5322 specifications for more information.',
  ],
  [
    'exim',
    /\bone or no \S{1,30} headers?\b|\bheaders? (?:field )?(?:\S{1,30} )?(?:occurs?|appears?|present|found|seen) (?:more than once|twice|multiple times|\d+ times)|\bonly one \S{1,30} header|\bheaders?\b .{0,40}duplicat/i,
    'dot: 550 Messages should have one or no Message-ID headers, not 2.',
  ],
]);

const from = causeRules('from-form', 'protocol', [
  [
    'gmail',
    /multiple (?:addresses|mailboxes|authors|senders) in (?:the )?['"]?from\b|missing a valid address in (?:the )?['"]?from\b|having no from\b|['"]?from['"]?:? (?:header|field) (?:is )?(?:malformed|invalid|not valid|broken|empty|does not contain|has no|contains (?:multiple|more|no))|(?:invalid|malformed|bad|no valid|unparse?able) (?:\S{1,20} ){0,2}['"]?from['"]?:? ?(?:header|field|line)|header from (?:is )?(?:malformed|invalid)/i,
    'dot: 550 5.7.1 [192.0.2.1] Messages with multiple addresses in From: header are not accepted. For more information, go to https://support.google.com/mail/?p=RfcMessageNonCompliant and review RFC 5322 specifications.',
  ],
]);

const missing = causeRules('missing-header', 'protocol', [
  [
    'gmail',
    /['"]?\b(?:from|date|message-?id|subject|to|sender|mime-version)\b['"]?:? (?:header |field |line )?(?:field )?(?:is |was )?(?:missing|absent|required|not (?:found|present))|(?:missing|lacks?|without|no|absent|needs) (?:a |an |any |the |valid |required ){0,3}['"]?(?:from|date|message-?id|mime-version|to|sender|subject)['"]?:? ?(?:header|field|line)|(?:missing|lacks?) (?:a |the |valid ){0,2}['"]?message-?id\b|missing (?:required |mandatory )?headers?\b/i,
    "dot: 550 5.7.1 [192.0.2.1] Our system has detected that this message is not RFC 5322 compliant: 'From' header is missing. To reduce the amount of spam sent to Gmail, this message has been blocked.",
  ],
]);

const charset = causeRules('header-charset', 'protocol', [
  [
    'postfix',
    /(?:8[- ]?bit|non-?ascii|unicode|utf-?8|illegal|raw|invalid) (?:data|characters?|bytes?|encoding|octets?) (?:\S{1,20} ){0,4}headers?\b|headers? (?:\S{1,20} ){0,4}(?:8[- ]?bit|non-?ascii|unicode|non-encoded|unencoded)|encoded-?word syntax is not permitted/i,
    'dot: 550 5.6.0 improper use of 8-bit data in message header',
  ],
]);

const lines = causeRules('line-too-long', 'protocol', [
  [
    'exim',
    /\blines? (?:is |are |was )?too long|(?:max(?:imum)?|maximal) (?:allowed |permitted )?(?:text |body |header |message )?line[- ]?length|line[- ]?length (?:limit )?(?:exceed|is too|too|limit|of)|line (?:size |length )?limit (?:\S{1,20} )?exceed|(?:overlong|over-long|excessively long|very long|long) lines?\b|lines? (?:\S{1,30} ){0,4}(?:longer than|more than|exceed\w*|over) (?:the )?(?:998|1000|limit|maximum|max\b)|\b(?:998|1000) (?:octets|characters|bytes|chars)\b/i,
    'dot: 550 maximum allowed line length is 998 octets, got 1712',
  ],
  [
    'postfix',
    /rfc ?5322 (?:section )?2\.1\.1|rfc ?5321 (?:section )?4\.5\.3\.1\.6/i,
    'dot: 550 Message is not RFC5322 2.1.1 compliant',
  ],
]);

const lineEnds = causeRules('bare-line-end', 'protocol', [
  [
    'postfix',
    /\b(?:bare|lone|stray|single|naked|isolated) (?:\S{1,10} ){0,2}<?(?:lf|cr|crlf|newlines?|line ?feeds?|carriage returns?)\b|barelinefeeds|smtplf\.html/i,
    'dot: 521 5.5.2 mx.example.net Error: bare <LF> received',
  ],
]);

const dates = causeRules('date-form', 'protocol', [
  [
    'exim',
    /\bdate:? (?:header |field )?(?:is )?(?:too )?(?:far )?(?:in the|from the|invalid|malformed|unparse?able|not valid|broken)|(?:invalid|malformed|bad|unparse?able) (?:\S{1,12} )?date\b(?: header)?/i,
    'dot: 550 Date header far in the past/future.',
  ],
]);

const mime = causeRules('mime-form', 'protocol', [
  [
    'any',
    /(?:malformed|invalid|broken|bad|corrupt(?:ed)?|illegal|improper) (?:\S{1,20} ){0,2}(?:mime|content-type|content-disposition|content-transfer-encoding|boundary|multipart)\b|\bmime (?:\S{1,20} ){0,3}(?:malformed|invalid|error|broken|violat\w+|syntax)|expected disposition, got|corrupt message content|invalidcontent\.exception|invalidcharset/i,
    'dot: 554 5.6.0 Invalid MIME Content-Type',
  ],
]);

const eightBit = causeRules('eight-bit', 'protocol', [
  [
    'sendmail',
    /(?:eight|8)[- ]?bit (?:data|mime|characters?|content|body) (?:\S{1,20} ){0,2}(?:not (?:allowed|supported|permitted|accepted)|is not|are not|refused|rejected)|body type not supported|does not (?:support|accept) 8 ?bit/i,
    'dot: 554 5.6.1 Eight bit data not allowed',
  ],
]);

const header = causeRules('header-form', 'protocol', [
  [
    'yahoo',
    /\bheaders? (?:field )?(?:\S{1,40} )?(?:is |are |was |were )?(?:not|non)[- ](?:\S{1,20} ){0,3}complian|(?:not|non)[- ]?compliant (?:\S{1,20} ){0,2}headers?/i,
    'dot: 554 Message not allowed - Headers are not RFC compliant[291]',
  ],
  [
    'any',
    /(?:bad|invalid|malformed|illegal|unparse?able|incorrect|improper|broken)[- ](?:\S{1,40} ){0,2}headers?\b|\bheaders?\b .{0,40}(?:invalid|malformed|illegal|\bbad\b|unparse?able|syntax error)|(?:invalid|bad|illegal) address in .{0,20}(?:header|to|cc|from)\b|illegal header|header syntax|missing final '@domain'/i,
    'dot: 554 Bad header: invalid address in To',
  ],
]);

const whole = causeRules('mail-form', 'protocol', [
  [
    'gmail',
    /(?:not|non)[- ](?:fully )?(?:\(?rfc[- ]?)?\(?(?:rfc ?)?(?:2?822|532[12]|2822|5322|mime)\)?[- ](?:\S{1,12} )?(?:compliant|conform\w*)|(?:message|mail|e-?mail)\b.{0,40}\bnot (?:\S{1,12} )?(?:rfc|standards?)[- ]?(?:complian\w*|conform\w*)|rfc[- ](?:non-?complian\w*|complian\w*)|(?:failed|fails|violat\w+|violation of|breaks?) (?:the )?(?:rfc|\S{1,12} rfc)|rfcmessagenoncompliant|(?:message|mail) (?:\S{1,12} )?(?:is )?malformed|malformed (?:message|e-?mail|mail)|format restriction violation/i,
    'dot: 554 5.6.0 Mail message is malformed. Not accepted. For more information, go to https://support.google.com/mail/?p=RfcMessageNonCompliant and review RFC 5322 specifications.',
  ],
]);

/** All rules about the form of our mail, the most specific first. */
export const formRules: readonly ReplyRule[] = [
  ...dkim,
  ...lineEnds,
  ...lines,
  ...duplicate,
  ...from,
  ...missing,
  ...charset,
  ...dates,
  ...mime,
  ...eightBit,
  ...header,
  ...whole,
];
