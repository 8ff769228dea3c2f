// Rules for refusals about a mailbox (full, unknown, closed) or the domain of a mailbox. Only rules
// about domains and recipients make a bounce hard, so their words must be unmistakable.
import { type ReplyRule, wordRules } from './rule.ts';

const full = wordRules('mailbox-full', [
  [
    'any',
    /over ?-?_?quota|\bquota.{0,40}(?:exceed|full|reached|limit|violation)|(?:exceed\w*|reached|over|beyond) .{0,30}(?:\bquota|storage|allocation|mailbox size)|\bquotaexceeded/i,
    '452 4.2.2 The email account that you tried to reach is over quota and inactive. Please direct the recipient to https://support.google.com/mail/?p=OverQuotaTemp',
  ],
  [
    'any',
    /(?:mail ?box|inbox|mail ?dir|mail ?folder|account|mail ?drop|mailfolder)(?: for @| of @| @)? (?:is |has been |was )?(?:too |over |already |currently |temporarily )?(?:full|too large|exceeded|overflow)|full mail ?box|mail ?box(?:es)? .{0,30}(?:\bfull\b|size limit|exceed)/i,
    '552 5.2.2 <joe@example.net>: the mailbox is full',
  ],
  [
    'any',
    /(?:out of|not enough|insufficient|no(?: more)?|lack of) (?:\w+ )?(?:disk|storage|space|system storage|system resources)|exceeded storage allocation|storage (?:full|limit|quota|allocation)|disk full|no space left|disk quota/i,
    '452 4.3.1 Insufficient system storage',
  ],
  [
    'localized',
    /bo[iî]te (?:aux lettres|de r[eé]ception|mail)? ?.{0,30}pleine|postfach .{0,40}voll|buz[oó]n .{0,30}lleno|casella .{0,30}piena|(?:ящик|ящика?) .{0,30}(?:переполнен|заполнен)|メールボックス.{0,20}(?:一杯|いっぱい|容量)|caixa .{0,30}cheia|mailbox vol\b|邮箱.{0,6}已?满|邮箱空间不足/i,
    'DSN: Das Postfach des Empfängers ist voll.',
  ],
]);

const tooLarge = wordRules('message-too-large', [
  [
    'any',
    /(?:message|mail|e-?mail|attachment|data|file) (?:\w+ ){0,3}(?:too (?:big|large|long)|(?:larger|bigger) than)|(?:message|mail|max(?:imum)?|fixed|allowed|header) .{0,30}size|size (?:limit|exceeds|restriction|of (?:the|this|your) (?:message|mail))|exceeds? (?:the |our |a )?(?:max(?:imum)?|allowed|size)|sizelimit|too large\b/i,
    '552 5.3.4 Message size exceeds fixed maximum message size',
  ],
]);

const domain = wordRules('invalid-domain', [
  [
    'postfix',
    /host or domain name not found(?!.{0,120}try again)|name service error for .{1,120}host not found(?!, try)|unable to look up host/i,
    'DSN: Host or domain name not found. Name service error for name=nowhere.example.net type=A: Host not found',
  ],
  [
    'sendmail',
    /(?<!\b(?:client|your|sending|sender|helo|remote) )(?:\bhost unknown|\bunknown host)\b|name server: .{1,120}: host not found/i,
    '550 5.1.2 <joe@nowhere.example.net>... Host unknown (Name server: nowhere.example.net: host not found)',
  ],
  [
    'qmail',
    /couldn't find any host named/i,
    "DSN: Sorry, I couldn't find any host named nowhere.example.net. (#5.1.2)",
  ],
  [
    'microsoft',
    /dns domain .{0,255}does not exist|infodomainnonexistent|smtpsend\.dns\.nonexistentdomain|dns\.nonexistentdomain/i,
    '550 5.4.310 DNS domain nowhere.example.net does not exist [Message=InfoDomainNonexistent] [LastAttemptedServerName=nowhere.example.net]',
  ],
  [
    'any',
    /(?<!\b(?:sender|sending|from|your|helo|client) )(?:(?:no such|non-?existent|unknown|invalid) (?:recipient(?:'s)? |destination |mail |e-?mail )?domain\b(?! of)|(?:recipient(?:'s)? |destination |mail |e-?mail )?domain (?:name )?(?:@ |\S{1,255} )?(?:is )?(?:not found|unknown|does not exist|doesn't exist|nxdomain|could not be found|couldn't be found))|\bnxdomain\b|null mx\b|an? mx (?:or srv )?record indicated no smtp service|because the domain \S{1,255} couldn't be found/i,
    '550 5.1.2 The recipient domain nowhere.example.net does not exist',
  ],
  [
    'localized',
    /domaine? .{0,60}n'existe pas|die domain .{0,120}existiert nicht|el dominio .{0,120}no existe|домен .{0,120}не (?:существует|найден)/i,
    'DSN: Die Domain nowhere.example.net existiert nicht.',
  ],
]);

const recipient = wordRules('invalid-recipient', [
  [
    'gmail',
    /account that you tried to reach (?:does not exist|is disabled|is inactive)|wasn't found at|address couldn't be found|NoSuchUser\b/i,
    "550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address for typos or unnecessary spaces. For more information, go to https://support.google.com/mail/?p=NoSuchUser",
  ],
  [
    'microsoft',
    /resolver\.adr\.(?:recip(?:ient)?notfound|exrecipnotfound|invalidinsmtp)|recipientnotfound|not found by smtp address lookup/i,
    '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient joe@example.net not found by SMTP address lookup',
  ],
  [
    'postfix',
    /user unknown|unknown user|unknown in (?:virtual|local|relay)|undeliverable address/i,
    '550 5.1.1 <joe@example.net>: Recipient address rejected: User unknown in virtual mailbox table',
  ],
  [
    'yahoo',
    /doesn't have an? \S{1,80} account|not a valid recipient|mailbox is disabled \(554\.30\)|this (?:mail ?box|user|account) (?:is|has been) (?:disabled|terminated|closed|deleted)/i,
    "554 delivery error: dd This user doesn't have a yahoo.example account (joe@yahoo.example) [0] - mta1089.mail.example.com",
  ],
  [
    'mail.ru',
    /invalid mailbox|is unavailable: (?:user not found|user is terminated|account is disabled)|user is terminated/i,
    '550 Message was not accepted -- invalid mailbox. Local mailbox joe@example.ru is unavailable: user not found',
  ],
  [
    'orange',
    /adresse (?:d ?'?au moins un |e-?mail )?(?:destinataire )?(?:invalide|incorrecte|inconnue)|OFR\w?_?416|destinataire inconnu/i,
    '550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR_416 [416]',
  ],
  [
    'comcast',
    /not our customer|account not found|no account by that name/i,
    '550 5.1.1 Not our Customer',
  ],
  [
    'qmail',
    /no mail ?box (?:here )?(?:by|with) that name|no user here by that name|account is locked e-?mail bounced/i,
    'DSN: Sorry, no mailbox here by that name. (#5.1.1)',
  ],
  [
    'domino',
    /not listed in (?:the )?(?:domino directory|public name|name & address)|not unique\. several matches found in domino/i,
    'DSN: User joe (joe@example.net) not listed in Domino Directory',
  ],
  [
    'any',
    /(?:no such|unknown|invalid|non-?existent|bad|undeliverable|unrecognized|wrong) (?:local |virtual |destination |e-?mail |mail |remote )?(?:user|recipient|mail ?box|person|address(?:ee)?|account|alias|local[ -]?part|login|maildrop|username)\b(?! (?:agent|format of sender))/i,
    '550 No such user here',
  ],
  [
    'any',
    /(?<!\b(?:ip|sender|sending|from|source|return|client|your|reply) )\b(?:user|recipients?|mail ?box|account|address(?:ee)?|person|customer|alias|username|maildrop|e-?mail (?:address|account))(?:'s)?(?: (?:e-?mail|address|account|name|mail ?box|you (?:tried|are trying|entered|were trying) .{0,30}|[@"'([]{1,2}\S{0,80}))? ?(?:[@:;,.-]{1,2} ?)?(?:(?:is|was|has been|are|does|could|can) )?(?:currently )?(?:unknown|not (?:be )?(?:found|known|exist|valid|recogni[sz]ed|listed|registered|a (?:known|valid))|invalid\b|inactive|disabled|deactivated|de-?activated|closed\b|terminated|expired|no longer|doesn't exist|doesnt exist|not existing|nonexist|removed|deleted|cancelled)/i,
    '550 5.1.1 joe@example.net: mailbox not found',
  ],
  [
    'any',
    /unrout(?:e)?able (?:mail )?(?:address|domain)|no (?:valid )?(?:such )?(?:person|recipients?) (?:at|here|found)|not a (?:valid|known|local) (?:mail ?box|recipient|user)\b|(?:doesn't|does not|do not|don't) (?:have|know|recogni[sz]e) (?:the |that |this |such |any |an? )?(?:user|recipient|account|mail ?box)\b|address (?:\S{1,3} )?(?:rejected: undeliverable|is not deliverable)|@ (?:is )?no longer|no longer (?:with|employed|works?|on server)\b|recipient (?:does )?not exist/i,
    '550 Unrouteable address',
  ],
  [
    'ironport',
    /unknown address error|#?5\.1\.0 address rejected|#5\.1\.1 (?:bad|unknown)/i,
    '550 #5.1.0 Address rejected joe@example.net',
  ],
  [
    'proofpoint',
    /recipient (?:address )?(?:verification failed|not (?:on file|in)|unknown)|\brecipient unknown/i,
    '550 5.1.1 <joe@example.net>... Recipient verification failed',
  ],
  [
    'localized',
    /empf[aä]nger(?:adresse)? .{0,60}(?:existiert nicht|unbekannt|nicht (?:gefunden|vorhanden))|(?:unbekannter? (?:empf[aä]nger|benutzer))|(?<!absender)adresse .{0,60}(?:existiert nicht|wurde nicht gefunden|konnte nicht gefunden werden)|(?:utilisateur|destinataire|adresse|compte) .{0,60}(?:inconnue?\b|introuvable|n'existe pas|n'a pas [eé]t[eé] trouv)|(?:usuario|destinatario|direcci[oó]n|cuenta|buz[oó]n) .{0,60}(?:desconocid|no existe|no se (?:ha )?encontr)|(?:utente|destinatario|indirizzo|casella) .{0,60}(?:sconosciut|inesistente|non (?:esiste|[eè] (?:stat[oa] )?trovat))/i,
    'DSN: Empfänger joe@example.net existiert nicht',
  ],
  [
    'localized',
    /(?:пользовател|получател|адрес|ящик).{0,60}не (?:существует|найден)|(?:нет такого|неизвестный) (?:пользовател|получател|адрес)|(?:宛先|あて先|ユーザー?|メールアドレス|受信者).{0,40}(?:見つかりません|存在しません|不明|ありません)|(?:usu[aá]rio|destinat[aá]rio|endere[cç]o|conta) .{0,60}(?:n[aã]o (?:existe|encontrad|foi encontrad)|inexistente|desconhecid)|gebruiker .{0,30}(?:onbekend|bestaat niet)|(?:收件人|用户|邮箱|帐号|账号).{0,12}(?:不存在|未找到)/i,
    'DSN: Пользователь с таким адресом не найден',
  ],
]);

const ambiguous: readonly ReplyRule[] = [
  {
    // Outlook.com documents 5.5.0 for an unknown mailbox.
    errorCode: 'invalid-recipient',
    source: 'microsoft',
    enhanced: /^5\.0$/,
    words: /mailbox unavailable/i,
    example: '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302)',
  },
  {
    // RFC 5321 gives these words for any 550, so they mean the mailbox only in an answer to RCPT.
    errorCode: 'invalid-recipient',
    source: 'gmx',
    words:
      /^\W{0,3}(?:requested (?:mail )?action not taken: ?)?mail ?box unavailable(?! .{0,200}(?:policy|sender|access))/i,
    codes: [550],
    verbs: ['RCPT'],
    example: '550 Requested action not taken: mailbox unavailable',
  },
];

/** All rules about mailboxes, in the order of matching. */
export const mailboxRules: readonly ReplyRule[] = [
  ...full,
  ...tooLarge,
  ...domain,
  ...recipient,
  ...ambiguous,
];
