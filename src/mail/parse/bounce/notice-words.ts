// Patterns for notices in the languages of mail systems: words about a failure or a delay, lines
// that begin the returned copy, and words of automatic mail that is not a notice.

/** Joins the patterns into a single expression that ignores case. */
function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'i');
}

/** Local parts and display names of senders of notices. */
const daemons = anyOf([
  /mailer-?daemon|mail-?daemon|daemon|post[-_]?master|mdaemon|bounces?|mail-?system|mail-?router/,
  /mail-?delivery|e?mail-?administrator|system-?administrator|microsoftexchange[0-9a-f]*/,
  /no-?reply|do-?not-?reply/,
]);
export const daemonLocalPart = new RegExp(`^(?:${daemons.source})(?:[-+_.].{0,60})?$`, 'i');
export const daemonName = anyOf([
  /mail(?:er)?[- ]?(?:delivery|daemon|router)|mail delivery|system ?administrator/,
  /mail administrator|postmaster|mail ?system|microsoft outlook|delivery (?:sub)?system/,
]);

/** Subjects of failure and delay notices. */
export const noticeSubject = anyOf([
  /(?:un|non[- ]?)deliver(?:able|ed|y)/,
  /deliver(?:y|ed)?.{0,40}(?:fail|status|problem|error|notification|report|delay|unsuccessful)/,
  /fail(?:ed|ure)?.{0,40}deliver|failure notice|mail failure/,
  /mail failed|returned (?:mail|to sender)|returning to sender|(?:returning|return) (?:of )?(?:message|mail) to sender/,
  /mail (?:system )?error|message (?:delayed|undeliverable|bounced)/,
  /could not (?:send|deliver)|warning: message|not delivered|delayed mail|unzustellbar|nicht zugestellt/,
  /zustell(?:ung|fehler).{0,30}|non[- ]?remis/,
  /[ée]chec d[e'].{0,20}(?:remise|livraison|distribution|envoi)|non distribu/,
  /no entregad|no se (?:pudo|puede|ha podido) entregar|error de entrega/,
  /fallo .{0,20}entrega|mancat[ao] (?:consegna|recapito)|non recapitat/,
  /impossibile recapitare|n[aã]o entregue|falha na entrega|onbestelbaar|niet bezorgd/,
  /недоставлен|не доставлен|не может быть доставлен|ошибка доставки|возвращ.{0,10}письм/,
  /配信不能|配信不可|配信エラー|配信できません|配[信送]失敗|送信エラー|送信失敗|送信できません|未配信|未達/,
  /undelivered|error sending (?:message|(?:your )?e?-?mail)|user unknown|non recapitabil|recapito non/,
  /n[ãa]o (?:[ée] poss[íi]vel entregar|foi poss[íi]vel entregar)|onbestelbar|bezorging mislukt/,
  /(?:kan|kunne|kunde) (?:ikke|inte) lever|g[åa]r inte att leverera|ej levererad|levering mislyk/,
  /niedostarczon|nedoru[čc]iteln|teslim edilemedi|k[ée]zbes[íi]thetetlen|toimitus ep[äa]onnistui/,
  /未传递|未送达|傳遞失敗|发送失败|投递失败|無法傳遞|배달되지|배달 (?:안|실패)|전송 실패|전달 실패/,
  /不達|宛先不明|届(?:け|き)(?:できません|ませんでした)|返送|エラーメール|退信|无法投递|반송/,
]);

/** Words of a notice about a final failure. */
export const failureOpening = anyOf([
  /(?:could|can|did|was|were|has|have|had|is|are) ?(?:not|n['’]t) (?:be |been |reach|yet been )?(?:able to )?(?:be )?(?:deliver|reach|sent|accepted)/,
  /cannot (?:be )?deliver|unable to (?:deliver|send)|undeliverable/,
  /deliver\w* .{0,60}(?:failed|failure|unsuccessful|error)/,
  /fail(?:ed|ure) .{0,30}deliver/,
  /permanent(?:ly)? (?:fatal )?(?:\w+ )?(?:error|failure|failed)/,
  /address(?:es|\(es\))? (?:failed|had)|returned to (?:the )?sender/,
  /returning (?:message|mail)|(?:was|been|were) (?:returned|rejected|bounced|blocked)/,
  /an error (?:has )?occurred while|unknown user:|user mailbox exceeds/,
  /mail delivery (?:system|failed)|non-?delivery|unzustellbar/,
  /nicht (?:\w+ ){0,3}(?:zugestellt|[üu]bermittelt|ausgeliefert|erreich)|fehlgeschlagen/,
  /n'a (?:pas )?pu [êe]tre|pas pu [êe]tre|n'a pas [ée]t[ée]|[ée]chec/,
  /no se (?:ha podido|pudo|puede)|no (?:ha podido|pudo|puede) ser/,
  /non (?:[èe] stato possibile|[èe] stat[oa]|pu[òo] essere|ha potuto)|impossibile/,
  /n[ãa]o (?:p[ôo]de|foi poss[íi]vel|foi entregue)/,
  /niet (?:worden )?(?:bezorgd|afgeleverd)|не (?:может|могло|удалось|было|были)/,
  /недоставлен|не доставлен|できません|配信不能|配信不可|エラー|失敗し|届きません|返送|不達|无法|退回/,
  /失败|없습니다|transcript of (?:the )?session follows/,
  /error (?:while )?(?:delivering|sending) (?:your |the |a )?(?:mail|message)|trouble delivering your (?:e-?)?(?:mail|message)/,
  /failed addresses follow|had delivery (?:errors|problems)|--- ?server message|failure reasons/,
  /did not receive (?:this|your) (?:mail|message)(?!\?)|went undelivered|remains? undelivered/,
  /account is (?:disabled|temporarily limited)|rejected recipient|no valid recipients/,
  /nicht .{1,60}(?:zugestellt|[üu]bermittelt|ausgeliefert) werden|non riuscit|non [èe] riuscit/,
  /falha (?:na|ao|de) entreg|n[ãa]o [ée] poss[íi]vel entregar|(?:is|zijn) mislukt/,
  /(?:gick|g[åa]r|kan|kunde) inte (?:att )?lever\w{0,4} .{0,40}(?:mottag|meddelande|e-?post)/,
  /(?:kan|kunne) ikke lever\w{0,3} .{0,40}(?:modtag|mottak|besked|meddelel|melding|e-?(?:mail|post))/,
  /levering(?:en)? mislyk\w{0,8} .{0,20}(?:modtag|mottak)/,
  /nie powiod[łl]o si[ęe]|nie (?:mo[żz]e|mog[łl]a?|uda[łl]o si[ęe]) .{0,40}dostarcz|nezda[řr]il/,
  /nelze doru[čc]it|ba[şs]ar[ıi]s[ıi]z|teslim edilem|nem siker[üu]lt|toimitus ep[äa]onnistui/,
  /배달하지 못|전달하지 못|전송하지 못|配送失败|無法(?:傳遞|投遞)/,
]);

/** Words of a notice about a delay. */
export const delayOpening = anyOf([
  /\bdelayed\b|\bstill (?:undelivered|being|trying|in)|not yet been/,
  /has not (?:yet )?been delivered to one or more/,
  /(?:will|shall) (?:continue|keep) (?:on )?(?:to )?(?:try|attempt|deliver)/,
  /continue(?:s)? (?:to be )?(?:trying|retr)|delivery attempts will continue/,
  /warning message only|will be retried|be (?:re)?tried (?:again|for)/,
  /temporary (?:problem|difficult|non-?fatal)|do(?:es)? not need to resend/,
  /delivery is delayed|verz[öo]gert|noch nicht zugestellt|wird weiter(?:hin)? versucht/,
  /retard[ée]|diff[ée]r[ée]|retrasad|demorad|a[úu]n no se ha|in ritardo|ritardat/,
  /ancora stato|atrasad|vertraagd|задерж|отложен|ещё не доставлен|еще не доставлен|遅延/,
  /遅れ|延迟|지연/,
]);

/** Words that promise further attempts. They outweigh all words of failure. */
export const goesOn = anyOf([
  /(?:will|shall) (?:continue|keep) (?:on )?(?:to )?(?:try|attempt|deliver)/,
  /continue(?:s)? (?:to be )?(?:trying|retr)|attempts will continue|still (?:being|trying|in the queue)/,
  /warning message only|(?:will|to) be (?:re)?tried|do(?:es)? not need to resend|tried again/,
  /wird weiter(?:hin)? versucht|noch nicht zugestellt|引き続き|再送を?(?:試み|行い)/,
]);

/** Words that say that the system gave up. They outweigh words about an earlier delay. */
export const gaveUp = anyOf([
  /giv(?:e|en|ing) up|gave up|no (?:further|more) (?:delivery )?attempts/,
  /(?:will|shall) not (?:be (?:re)?tried|be attempted|try|attempt)|not going to try again/,
  /(?:has|have|is|was) (?:now )?(?:been )?returned|(?:was|were) not delivered/,
  /permanent(?:ly)? (?:fatal )?(?:error|fail)|endg[üu]ltig|definitiv/,
]);

/** Line that begins the returned copy. The words below are not words of the server. */
const copyTitle = anyOf([
  /(?:below|following|here|this|attached) .{0,40}(?:copy|part|header|beginning|text) .{0,40}(?:message|mail)/,
  /(?:original|unsent|returned|failed|undelivered) (?:message|mail) (?:text|header|follows|content|below)/,
  /(?:original|unsent|returned|failed|undelivered) (?:message|mail)[\s*=_+:.-]{0,80}$/,
  /(?:message|mail) (?:header|text|content)s?(?: follow|[\s*=_+:.-]{0,80}$)|header of the original/,
  /urspr[üu]ngliche nachricht|kopie (?:der|ihrer) nachricht|message d'origine|copie du message/,
  /mensaje original|messaggio originale|исходное (?:сообщение|письмо)/,
  /заголов\S{0,6} .{0,30}(?:письма|сообщения)|元のメッセージ|原始邮件/,
]);
const copyField = anyOf([
  /received|return-path|dkim-signature|delivered-to|mime-version|authentication-results/,
  /x-received|content-type:[ \t]{0,4}(?:message|text)\/rfc822/,
]);
export const copyStart = anyOf([
  new RegExp(`^[\\s>*=_+#-]{0,80}(?:${copyTitle.source})`),
  new RegExp(`^[ \\t>|]{0,4}(?:${copyField.source})[:-]?[ \\t]*(?:$|[:<a-z(;])`),
]);

/**
 * Automatic mail that is not a bounce: read receipts, challenges, absences, moderation, success.
 */
export const otherNotice = anyOf([
  /^(?:read|gelesen|lu|le[íi]do|letto|прочтено|not read|nicht gelesen|deleted)\s?:/,
  /return receipt|read receipt|out of (?:the )?office/,
  /auto(?:matic|mated)?[- ]?(?:reply|response)|autoreply|vacation|abwesen|absence/,
  /awaits (?:moderator )?approval|moderat(?:or|ion)|confirm your|please confirm/,
  /verify your|verification required|challenge|\[spam ?arrest|boxbe/,
  /successful(?:ly)? (?:mail )?deliver|delivered successfully|delivery receipt/,
  /message (?:was |has been )?(?:read|displayed|opened)/,
]);
export const otherNoticeText = anyOf([
  /(?:click|follow|visit) .{0,60}(?:link|below|here|url).{0,120}(?:deliver|confirm|verify|approve|release)/,
  /to (?:complete|confirm|release) (?:the )?delivery/,
  /reply to this (?:message|e-?mail) (?:to|and) .{0,60}(?:deliver|confirm|approve)/,
  /(?:was|been) (?:successfully )?(?:delivered|relayed) (?:successfully|to the following|and)/,
  /waiting (?:in quarantine )?for .{0,30}approval|waiting list/,
]);

/** Labels before the address in a line with the failed recipient. */
export const recipientLabel = anyOf([
  /(?:failed|original|final|invalid|the following|e-?mail)? ?(?:recipients?|address(?:es)?)/,
  /(?:failed|original|final|invalid|the following)? ?(?:rcpt to|to|for|user|mailbox)/,
  /fail\w* to deliver to|could not deliver (?:message )?to|delivery to|your message to/,
  /unknown user|user mailbox exceeds allowed size|undeliverable to|empf[aä]nger(?:adresse)?|an/,
  /destinataires?|[aà]|destinatari[oa]s?|para|получател[ья]|адрес|кому|宛先|收件人/,
]);
