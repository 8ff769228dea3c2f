// Patterns for the words near a number in mail: names of one-time codes in many languages, and
// names of further numbers, such as orders and telephones.

function anyOf(patterns: readonly RegExp[], flags: string): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), flags);
}

/** Names of a code. Compound words may have letters in front: `Sicherheitscode`, `engångskod`. */
export const codeName = anyOf(
  [
    /(?<!\p{L})\p{L}{0,24}code(?:s|n)?(?!\p{L})(?! of conduct| review| freeze| postal| promo| fiscal| sconto| de r[ée]duc)/u,
    /(?<!\p{L})c[oó]digo(?!\p{L})(?! postal| promo| de (?:desc|barras|reserva))/u,
    /(?<!\p{L})(?:codice(?! sconto| fiscale| postale)|cod(?:ul)?)(?!\p{L})/u,
    /(?<!\p{L})\p{L}{0,24}(?:kod(?!ak)|kód|koodi|κωδικ|код(?!екс|иров))\p{L}{0,5}(?!\p{L})(?! poczt| rabat)/u,
    /(?<!\p{L})(?:pins?|m?-?otp|m?tan|2fa|mfa|token|passkey|passphrase|pin-?kode)(?!\p{L})/u,
    /one[- ]?time (?:pass\p{L}*|key|number)|temporary password|verification number|security number/u,
    /einmal-?(?:pass|kenn)wort|kennziffer|mot de passe (?:à usage unique|temporaire)/u,
    /contraseña (?:de un solo uso|temporal)|clave (?:de|temporal|dinámica)|senha|parola d'ordine/u,
    /wachtwoord|(?:jednorazowe )?hasło|şifre\p{L}*|пароль\p{L}?|(?<!\p{L})mã(?!\p{L})/u,
    /(?<!バー|クーポン|qr)コード|ワンタイム|(?:認証|確認|暗証)番号|パスワード/u,
    /(?:验证|驗證|校验|动态|動態|安全|认证|認證|確認|识别)(?:码|碼)|(?:动态|動態|一次性)(?:密码|密碼)|代码|代碼/u,
    /인증\s?번호|확인\s?번호|핀\s?번호|(?<!바)코드|일회용\s?비밀번호/u,
    /رمز|كود|کد|קוד|कोड|ओटीपी|รหัส/u,
  ],
  'giu',
);

/**
 * Words before "code" that make it the code of goods, a place or an error: `post`, `gift`,
 * `status`.
 */
export const otherCode = anyOf(
  [
    /(?:bar|post|zip|qr|promo|voucher|coupon|gift|country|area|dial|source|uni|color|colour|dress|sort)/u,
    /(?:swift|error|status|discount|referral|postal|tracking|product|booking|tax|hs|article|item)/u,
    /(?:strich|gutschein|rabatt|aktions|buchungs|farb|fehler|quell|länder|korting\p{L}*|streepjes)/u,
    /(?:rabatt?|poczt\w*|индекс\p{L}*|промо)/u,
  ].map(({ source }) => new RegExp(`${source}[- ]?(?=(?:code|kod|код|コード))`, 'u')),
  'iu',
);

/** Verbs that ask for a code without naming it. */
export const codeVerb =
  /(?<!\p{L})(?:enter|type|verif(?:y|ication)|sign[- ]?in|log[- ]?in|confirm\p{L}*|eingeben|bestätig\p{L}*|saisi\p{L}*|confirmer|introduc\p{L}*|ingres\p{L}*|digit\p{L}*|inser\p{L}*|voer|wpisz|введите)(?!\p{L})|入力|输入|輸入|입력/giu;

/** Words directly before a number that is not a code. */
export const otherNumber = new RegExp(
  `(?:${
    anyOf(
      [
        /(?<!\p{L})(?:orders?|invoice|bill|receipt|ticket|case|ref(?:erence)?|acct|account n\p{L}*|customer|client)/u,
        /(?<!\p{L})(?:transaction|booking|reservation|tracking|policy|member(?:ship)?|version|build|id|box)/u,
        /(?<!\p{L})(?:serial|line|pr|sku|rfc|iso|room|suite|zip|plz|vat|iban|bic|hrb|siret|cnpj|ending (?:in|with))/u,
        /(?<!\p{L})(?:last (?:four|4) digits|card|amount|total|page|since|copyright|©|\(c\)|nr|no|#|№|n°)/u,
        /(?<!\p{L})(?:bestell|rechnung|kunden|auftrag|vorgang|vertrag|konto|ticket|referenz)\p{L}*/u,
        /(?<!\p{L})(?:commande|facture|dossier|compte|pedido|factura|fatura|cuenta|conta|ordine|fattura)/u,
        /(?<!\p{L})(?:bestelling|factuur|order|faktur\p{L}*|zamówieni\p{L}*|заказ\p{L}*|счет\p{L}*)/u,
        /(?<!\p{L})(?:post|zip|qr|promo|bar|country|area|voucher|coupon|gift|discount)[- ]?code/u,
        /(?:注文|受注|会員|お客様)番号|郵便番号|订单|訂單|주문\s?번호|〒/u,
      ],
      'u',
    ).source
  })[^\\n.!?。\\d]{0,15}$`,
  'iu',
);

/** Words directly before a telephone number. Not `your phone`, to which a code is sent. */
export const phoneWords =
  /(?<!(?:your|ihre?m?|votre|tu|seu|your mobile) )(?<!\p{L})(?:tel|telefon\p{L}*|phone|fon|mobile|handy|call(?: us)?(?: at| on)?|ring|dial|fax|hotline|helpline|whatsapp|(?:text|sms) \p{L}+ to|sms to|tél\p{L}*|appelez|llam[ae]\p{L}*|ligue|chiama\p{L}*|bel|zadzwoń|тел\p{L}*|позвоните|電話|电话|電話番号|전화)[^\n\d]{0,15}(?:[\d\s()+/-]{5,25}(?:,|;|or|and|und|oder|ou|o|e|y)\s?)?$/iu;

/** Words directly after a number that counts or measures. */
export const unit =
  /^\s?(?:%|°|[$€£¥₩₹]|(?:min(?:ute)?s?|minuten|minutos?|minuti|secs?|seconds?|sekunden|secondes|segundos|hours?|stunden|heures|horas|days?|tage|jours|días|dias|giorni|usd|eur|gbp|chf|jpy|kr|zł|руб|points?|punkte|items?|users?|people|km|kg|mb|gb|kb|px)(?!\p{L})|[年月日分秒円元点個人]|분|초|년|원)/iu;
