// How mail systems open a notice about a message, in their languages (data, contract 8): that it
// failed, that it only waits, where the returned copy begins, and what is no notice at all.

/** Alternatives, as many to a line as fit. */
function anyOf(patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'i');
}

/** Who writes notices: the local part and the display name of From. */
export const daemonLocalPart = anyOf([
  String.raw`^(?:mailer-?daemon|mail-?daemon|daemon|post-?master|mdaemon|bounces?|mail-?system|mail-?router|mail-?delivery|e?mail-?administrator|system-?administrator|microsoftexchange[0-9a-f]*|no-?reply|do-?not-?reply)(?:[-+_.].{0,60})?$`,
]);
export const daemonName = anyOf([
  String.raw`mail(?:er)?[- ]?(?:delivery|daemon|router)|mail delivery|system ?administrator`,
  String.raw`mail administrator|postmaster|mail ?system|microsoft outlook|delivery (?:sub)?system`,
]);

/** Subjects of notices, failed or waiting. */
export const noticeSubject = anyOf([
  String.raw`(?:un|non[- ]?)deliver(?:able|ed|y)`,
  String.raw`deliver(?:y|ed)?.{0,40}(?:fail|status|problem|error|notification|report|delay|unsuccessful)`,
  String.raw`fail(?:ed|ure)?.{0,40}deliver|failure notice|mail failure`,
  String.raw`returned (?:mail|to sender)|(?:returning|return) (?:of )?(?:message|mail) to sender`,
  String.raw`mail (?:system )?error|message (?:delayed|undeliverable|bounced)`,
  String.raw`could not (?:send|deliver)|not delivered|delayed mail|unzustellbar|nicht zugestellt`,
  String.raw`zustell(?:ung|fehler).{0,30}|non[- ]?remis`,
  String.raw`[ée]chec d[e'].{0,20}(?:remise|livraison|distribution|envoi)|non distribu`,
  String.raw`no entregad|no se (?:pudo|puede|ha podido) entregar|error de entrega`,
  String.raw`fallo .{0,20}entrega|mancat[ao] (?:consegna|recapito)|non recapitat`,
  String.raw`impossibile recapitare|n[aã]o entregue|falha na entrega|onbestelbaar|niet bezorgd`,
  String.raw`недоставлен|не доставлен|не может быть доставлен|ошибка доставки|возвращ.{0,10}письм`,
  String.raw`配信不能|配信エラー|配信できません|送信エラー|未配信|退信|无法投递|반송`,
]);

/** What a notice says of the message when it gave up. */
export const failureOpening = anyOf([
  String.raw`(?:could|can|did|was|were|has|have|had|is|are) ?(?:not|n't) (?:be |been |reach|yet been )?(?:able to )?(?:be )?(?:deliver|reach|sent|accepted)`,
  String.raw`cannot (?:be )?deliver|unable to (?:deliver|send)|undeliverable`,
  String.raw`deliver\w* .{0,60}(?:failed|failure|unsuccessful|error)`,
  String.raw`fail(?:ed|ure) .{0,30}deliver`,
  String.raw`permanent(?:ly)? (?:fatal )?(?:\w+ )?(?:error|failure|failed)`,
  String.raw`address(?:es|\(es\))? (?:failed|had)|returned to (?:the )?sender`,
  String.raw`returning (?:message|mail)|(?:was|been|were) (?:returned|rejected|bounced|blocked)`,
  String.raw`an error (?:has )?occurred while|unknown user:|user mailbox exceeds`,
  String.raw`mail delivery (?:system|failed)|non-?delivery|unzustellbar`,
  String.raw`nicht (?:\w+ ){0,3}(?:zugestellt|[üu]bermittelt|ausgeliefert|erreich)|fehlgeschlagen`,
  String.raw`n'a (?:pas )?pu [êe]tre|pas pu [êe]tre|n'a pas [ée]t[ée]|[ée]chec`,
  String.raw`no se (?:ha podido|pudo|puede)|no (?:ha podido|pudo|puede) ser`,
  String.raw`non (?:[èe] stato possibile|[èe] stat[oa]|pu[òo] essere|ha potuto)|impossibile`,
  String.raw`n[ãa]o (?:p[ôo]de|foi poss[íi]vel|foi entregue)`,
  String.raw`niet (?:worden )?(?:bezorgd|afgeleverd)|не (?:может|могло|удалось|было|были)`,
  String.raw`недоставлен|не доставлен|できません|配信不能|エラー|无法|退回|失败|없습니다`,
]);

/** What it says when it goes on trying: never final, whatever else it says. */
export const delayOpening = anyOf([
  String.raw`\bdelayed\b|\bstill (?:undelivered|being|trying|in)|not yet been`,
  String.raw`has not (?:yet )?been delivered to one or more`,
  String.raw`(?:will|shall) (?:continue|keep) (?:on )?(?:to )?(?:try|attempt|deliver)`,
  String.raw`continue(?:s)? (?:to be )?(?:trying|retr)|delivery attempts will continue`,
  String.raw`warning message only|will be retried|be (?:re)?tried (?:again|for)`,
  String.raw`temporary (?:problem|difficult|non-?fatal)|do(?:es)? not need to resend`,
  String.raw`delivery is delayed|verz[öo]gert|noch nicht zugestellt|wird weiter(?:hin)? versucht`,
  String.raw`retard[ée]|diff[ée]r[ée]|retrasad|demorad|a[úu]n no se ha|in ritardo|ritardat`,
  String.raw`ancora stato|atrasad|vertraagd|задерж|отложен|ещё не доставлен|еще не доставлен|遅延`,
  String.raw`遅れ|延迟|지연`,
]);

/** Where the returned copy begins: its words are not the server's. Tested line by line. */
export const copyStart = anyOf([
  String.raw`^[\s>*=_+#-]{0,80}(?:(?:below|following|here|this|attached) .{0,40}(?:copy|part|header|beginning|text) .{0,40}(?:message|mail)|(?:original|unsent|returned|failed|undelivered) (?:message|mail)(?: (?:text|header|follows|content|below)|[\s*=_+:.-]{0,80}$)|(?:message|mail) (?:header|text|content)s?(?: follow|[\s*=_+:.-]{0,80}$)|header of the original|urspr[üu]ngliche nachricht|kopie (?:der|ihrer) nachricht|message d'origine|copie du message|mensaje original|messaggio originale|исходное (?:сообщение|письмо)|заголов\S{0,6} .{0,30}(?:письма|сообщения)|元のメッセージ|原始邮件)`,
  String.raw`^[ \t>|]{0,4}(?:received|return-path|dkim-signature|delivered-to|mime-version|authentication-results|x-received|content-type:[ \t]{0,4}(?:message|text)/rfc822)[:-]?[ \t]*(?:$|[:<a-z(;])`,
]);

/** Read receipts, challenges, absences, moderation, success: mail of machines that is no bounce. */
export const otherNotice = anyOf([
  String.raw`^(?:read|gelesen|lu|le[íi]do|letto|прочтено|not read|nicht gelesen|deleted)\s?:`,
  String.raw`return receipt|read receipt|out of (?:the )?office`,
  String.raw`auto(?:matic|mated)?[- ]?(?:reply|response)|autoreply|vacation|abwesen|absence`,
  String.raw`awaits (?:moderator )?approval|moderat(?:or|ion)|confirm your|please confirm`,
  String.raw`verify your|verification required|challenge|\[spam ?arrest|boxbe`,
  String.raw`successful(?:ly)? (?:mail )?deliver|delivered successfully|delivery receipt`,
  String.raw`message (?:was |has been )?(?:read|displayed|opened)`,
]);
export const otherNoticeText = anyOf([
  String.raw`(?:click|follow|visit) .{0,60}(?:link|below|here|url).{0,120}(?:deliver|confirm|verify|approve|release)`,
  String.raw`to (?:complete|confirm|release) (?:the )?delivery`,
  String.raw`reply to this (?:message|e-?mail) (?:to|and) .{0,60}(?:deliver|confirm|approve)`,
  String.raw`(?:was|been) (?:successfully )?(?:delivered|relayed) (?:successfully|to the following|and)`,
  String.raw`waiting (?:in quarantine )?for .{0,30}approval|waiting list`,
]);
