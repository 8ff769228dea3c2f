// What remote servers mean by their refusals: enhanced codes and the words of real MTAs, to the
// `errorCode` list of contract 5. Data only; classify.ts reads it from the top, the first match wins.
import type { ErrorCode } from './outcome.ts';

export interface ClassifyRule {
  errorCode: ErrorCode;
  /** Matched against `subject.detail` of the enhanced code (`1.1` of `5.1.1`). */
  enhanced?: RegExp;
  /** Matched against the text. */
  words?: RegExp;
  /** Only for these reply codes. */
  codes?: readonly number[];
  /** Only for permanent refusals (5yz). */
  isPermanent?: true;
}

/*
 * Order matters. Reputation and content come first: servers dress both up as 5.1.1 or 5.7.1, and
 * only `invalid-recipient` and `invalid-domain` block an address, so these need the clearest words.
 */
export const classifyRules: readonly ClassifyRule[] = [
  {
    errorCode: 'blocked',
    words:
      /spamhaus|spamcop|barracuda|sorbs|uceprotect|abusix|invaluement|proofpoint.*block|\b(?:dns|r)bl\b|black-?\s?list|block-?\s?list|deny-?\s?list|\bblocked (?:using|by|due|for)\b|(?:poor|bad|low) reputation|reputation (?:of|is|too)|\bbanned\b|sender ip|\bip(?: address)? .{0,60}(?:blocked|listed|rejected)|(?:client|sending) (?:host|server|ip).{0,60}(?:blocked|rejected)|unusual rate of unsolicited/i,
  },
  {
    errorCode: 'spam',
    words:
      /\bspam\b|spammy|spam-|unsolicited|junk ?mail|bulk e?-?mail|phish|virus|malware|(?:message|content) (?:was )?(?:rejected|blocked|refused) (?:due to|because of|for|by) .{0,30}content|suspicious content|\bUBE\b/i,
  },
  {
    errorCode: 'auth-failed',
    words:
      /\bdmarc\b|\bdkim\b|\bspf\b|unauthenticated (?:e?mail|sender)|sender id|authentication (?:required|failed|credentials|unsuccessful)|invalid (?:login|credentials|password)/i,
  },
  { errorCode: 'auth-failed', codes: [530, 534, 535, 538] },
  {
    errorCode: 'mailbox-full',
    words:
      /over ?-?quota|quota (?:exceeded|full|limit)|exceed(?:s|ed)? .{0,30}quota|(?:mailbox|inbox|maildir|account) (?:is )?(?:over )?full|full mailbox|out of (?:storage|disk)|storage (?:allocation|limit|exceeded|space)|not enough (?:disk|storage) space|insufficient (?:disk|system|mailbox)? ?(?:storage|space)/i,
  },
  { errorCode: 'mailbox-full', enhanced: /^2\.2$/ },
  {
    errorCode: 'message-too-large',
    words:
      /message (?:is )?too (?:big|large)|(?:message|mail|max(?:imum)?|fixed) .{0,30}size|size (?:limit|exceeds)|too large/i,
  },
  // Of the sender, so never a reason to block the recipient.
  { errorCode: 'policy', enhanced: /^1\.[78]$/ },
  {
    errorCode: 'policy',
    words:
      /(?:sender|envelope from|return path|mail from)\b.{0,60}(?:rejected|refused|not exist|not found|invalid)/i,
  },
  // Microsoft 365 says so of recipients that its directory does not know.
  { errorCode: 'invalid-recipient', enhanced: /^4\.1$/, words: /recipient address rejected/i },
  {
    errorCode: 'policy',
    words:
      /relay(?:ing)? (?:access )?(?:denied|not|prohibited)|not (?:permitted|allowed) to relay|unable to relay|grey-?list|gr[ae]ylist|rate.?limit|too (?:many|fast|quickly)|throttl|try again later/i,
  },
  {
    errorCode: 'invalid-domain',
    words:
      /(?:unknown|no such|invalid|non-?existent) (?:recipient )?(?:domain|host)\b|(?:recipient )?(?:domain|host) (?:name )?(?:is )?(?:not found|unknown|does not exist|doesn't exist|not hosted)|domain not found/i,
    isPermanent: true,
  },
  {
    errorCode: 'invalid-recipient',
    words:
      /(?:unknown|no such|invalid|non-?existent|bad|undeliverable) (?:local )?(?:user|recipient|mailbox|person|address|account|addressee|destination mailbox)\b|(?:user|recipient|mailbox|account|addressee?)(?: address| account| name)?[ :].{0,80}?(?:unknown|not found|not known|not exist|doesn'?t exist|does not exist|no longer|not listed|inactive|disabled|deactivated|suspended)|(?:user|mailbox|account|recipient|alias) (?:is )?(?:unknown|invalid|inactive|disabled|closed)|no mailbox (?:here|by that name)|unrouteable address|not a valid (?:mailbox|recipient|user)|not our customer|unknown in virtual|no (?:valid )?such person|user doesn'?t have an? .{0,40}account/i,
    isPermanent: true,
  },
  {
    errorCode: 'invalid-recipient',
    enhanced: /^5\.0$/,
    words: /mailbox unavailable/i,
    isPermanent: true,
  },
  { errorCode: 'invalid-recipient', enhanced: /^1\.[136]$/ },
  { errorCode: 'invalid-domain', enhanced: /^1\.(?:2|10)$/ },
  { errorCode: 'invalid-recipient', enhanced: /^2\.1$/, isPermanent: true },
  { errorCode: 'message-too-large', enhanced: /^(?:2\.3|3\.4)$/ },
  { errorCode: 'invalid-domain', enhanced: /^4\.4$/, isPermanent: true },
  { errorCode: 'policy', enhanced: /^4\.6$/ },
  { errorCode: 'connection', enhanced: /^4\./ },
  { errorCode: 'auth-failed', enhanced: /^7\.(?:[89]|1[1-5]|2[0-4]|26|27)$/ },
  { errorCode: 'blocked', enhanced: /^7\.(?:25|28)$/ },
  { errorCode: 'policy', enhanced: /^7\./ },
  { errorCode: 'protocol', enhanced: /^5\./ },
  {
    errorCode: 'policy',
    words: /policy|not (?:allowed|permitted|authori[sz]ed)|access denied|prohibited/i,
  },
  { errorCode: 'mailbox-full', codes: [452] },
  { errorCode: 'protocol', codes: [500, 501, 502, 503, 504, 555] },
];

/** A 5yz at RCPT that only says: not so many at once (RFC 5321 4.5.3.1.10). */
export const tooManyRecipients = /too many (?:recipients|rcpt)/i;
