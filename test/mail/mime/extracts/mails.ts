// Mails with a one-time code or other numbers, in the shapes of real senders. The texts are our
// own.

export interface CodeMail {
  shape: string;
  subject?: string;
  text?: string;
  html?: string;
  /** The digits to type; null if the mail has no code. */
  code: string | null;
}

const large = (digits: string) => `<p style="font-size:32px;letter-spacing:6px">${digits}</p>`;

const english: CodeMail[] = [
  { shape: 'Google', subject: 'G-482913 is your verification code', text: 'Hi', code: '482913' },
  {
    shape: 'Google, in the text',
    subject: 'Verify your email',
    text: 'Your Google verification code is:\n\nG-482913\n\n© 2026 Google LLC, 1600 Amphitheatre Parkway',
    code: '482913',
  },
  {
    shape: 'GitHub',
    subject: '[GitHub] Please verify your device',
    text: 'Hey ada!\nA sign in attempt requires further verification.\n\nDevice: Firefox 12345 on Linux\nVerification code: 482913\n\nIf you did not attempt to sign in, visit https://github.com/settings/99999',
    code: '482913',
  },
  {
    shape: 'Microsoft',
    text: 'Please use the following security code for the account ad*****@example.com.\n\nSecurity code: 4829135\n\nThanks,\nThe account team\nMicrosoft Corporation, One Microsoft Way, Redmond, WA 98052',
    code: '4829135',
  },
  {
    shape: 'Apple, large HTML',
    html: `<title>12345</title><p>Dear Ada, to verify 2026 sign-ins, enter this code:</p>${large('482913')}<p>Apple ID 1234567</p><p>Copyright © 2026 Apple Inc.</p>`,
    code: '482913',
  },
  {
    shape: 'Stripe, in groups',
    text: 'Your verification code is 482 913.\nIt expires in 10 minutes.',
    code: '482913',
  },
  { shape: 'groups with a hyphen', text: 'Enter 482-913 to continue', code: '482913' },
  { shape: 'pairs', text: 'One-time passcode\n48 29 13', code: '482913' },
  {
    shape: 'a cell for each digit',
    html: `<p>Your PIN</p><table><tr>${[...'482913'].map((one) => `<td>${one}</td>`).join('')}</tr></table>`,
    code: '482913',
  },
  {
    shape: 'a block for each digit',
    html: `<p>Your code</p>${[...'482913'].map((one) => `<div>${one}</div>`).join('')}<p>Valid until 2027</p>`,
    code: '482913',
  },
  { shape: 'Facebook', subject: '48291 is your Facebook recovery code', code: '48291' },
  {
    shape: 'a bank, with a card and a telephone number',
    text: 'Your OTP for a payment of $1,250.00 with the card ending in 4242 is 482913. Never share it.\nQuestions? Call 1-800-555-0199 or 482 914.',
    code: '482913',
  },
  {
    shape: 'an order with a code',
    text: 'Order number: 48291034\nPlaced: 2026-11-25\n\nShow the pickup code 7731 at the desk.',
    code: '7731',
  },
  { shape: 'a code for an order', text: 'The code for order 48291034 is 5521.', code: '5521' },
  {
    shape: 'a code before its name',
    text: 'Copyright 2026\n482913 is your one-time password',
    code: '482913',
  },
  {
    shape: 'a code beside a telephone',
    text: 'We sent this to your phone: 482913 is the code. Tel. 5550123',
    code: '482913',
  },
  { shape: 'a parameter', text: 'token=482913', code: '482913' },
  { shape: 'a PIN like a year', text: 'Your PIN is 2019. Copyright 2026', code: '2019' },
  {
    shape: 'only an entity-encoded text',
    html: '<p>Your&nbsp;code:&nbsp;<b>&#52;82913</b></p>',
    code: '482913',
  },
  {
    shape: 'the largest text, without its name',
    html: `<p>Reset 20391 things</p><h1>Hello</h1>${large('482913')}<p>See you, in 2026</p>`,
    code: '482913',
  },
  {
    shape: 'a postal address in the footer',
    subject: 'Your login code',
    text: 'Here it is. 482913\n\nAcme, 548 Market St, San Francisco, CA 94107',
    code: '482913',
  },
  {
    shape: 'the sandbox',
    text: 'Follow https://example.com/1234567 or type 482913.',
    code: '482913',
  },
];

const others: CodeMail[] = [
  {
    shape: 'German, a bank',
    subject: 'Ihr Einmalpasswort',
    text: 'Sehr geehrter Kunde 10023388,\nIhre TAN lautet 482913.\nHotline: 030 123456\nFriedrichstr. 12, 10117 Berlin',
    code: '482913',
  },
  {
    shape: 'German, a compound',
    html: '<p>Dein Bestätigungscode:</p><p><strong>482 913</strong></p><p>Bestellnummer 90012345</p><p>Er gilt 15 Minuten.</p>',
    code: '482913',
  },
  { shape: 'German, in front', text: '482913 ist dein Anmeldecode für Beispiel.', code: '482913' },
  {
    shape: 'French',
    text: 'Bonjour,\nVotre code de vérification est : 482913\nCommande 20391, 75001 Paris. Tél. 01 23 45 67 89',
    code: '482913',
  },
  {
    shape: 'French, entities',
    html: '<p>Voici votre code &agrave; usage unique</p><h2>4829</h2><p>&copy; 2026, code postal 75001</p>',
    code: '4829',
  },
  {
    shape: 'Spanish',
    text: 'Tu c\u00f3digo de verificaci\u00f3n es 482913. Llámanos al 912345678. Código postal 28013',
    code: '482913',
  },
  { shape: 'Spanish, a key', text: 'Clave de acceso: 4829\nPedido 2039100', code: '4829' },
  {
    shape: 'Portuguese',
    subject: 'Seu código de acesso',
    text: 'Use o código abaixo:\n\n482913\n\nAv. Paulista, 1578, 01310 São Paulo',
    code: '482913',
  },
  {
    shape: 'Italian',
    text: 'Il tuo codice di verifica è 482913, valido 10 minuti. Codice fiscale 12345678',
    code: '482913',
  },
  { shape: 'Dutch', text: 'Je verificatiecode is 482913. Postcode 1012 AB', code: '482913' },
  {
    shape: 'Polish',
    text: 'Twój kod weryfikacyjny to 482913. Kod pocztowy 00-950',
    code: '482913',
  },
  { shape: 'Swedish', subject: 'Din engångskod: 4829', text: 'Gäller 10 minuter', code: '4829' },
  { shape: 'Turkish', text: 'Doğrulama kodunuz: 482913', code: '482913' },
  {
    shape: 'Russian',
    text: 'Ваш код подтверждения: 482913\nЗаказ 20391045. Тел. 84951234567',
    code: '482913',
  },
  {
    shape: 'Japanese',
    text: '認証コード：４８２９１３\n（有効期限：2026年11月25日）\n〒1500001 電話番号 0312345678',
    code: '482913',
  },
  {
    shape: 'Japanese, on its own line',
    text: '確認コードを入力してください。\n\n482913',
    code: '482913',
  },
  { shape: 'Chinese', text: '【示例】您的验证码是482913，5分钟内有效。订单20391', code: '482913' },
  { shape: 'Korean', text: '[예시] 인증번호 [482913] 를 입력해 주세요. 2026년', code: '482913' },
  { shape: 'Arabic', text: 'رمز التحقق الخاص بك هو ٤٨٢٩١٣', code: '482913' },
  { shape: 'Hindi', text: 'आपका ओटीपी ४८२९१३ है', code: '482913' },
  { shape: 'Greek', text: 'Ο κωδικός επαλήθευσης είναι 482913', code: '482913' },
];

const none: CodeMail[] = [
  { shape: 'a year', text: 'Happy new year 2026!\nCopyright 2025-2026', code: null },
  { shape: 'a span of years alone', text: '1999 2000', code: null },
  {
    shape: 'telephone numbers',
    text: 'Call 555-0123, +49 30 482913, (030) 482913 or 13 11 14',
    code: null,
  },
  {
    shape: 'a telephone number in a link',
    html: '<p>Your code has expired</p><a href="tel:482913">482913</a>',
    code: null,
  },
  {
    shape: 'an order',
    subject: 'Order #482913 has shipped',
    text: 'Invoice 48291\nTotal: $1234\nDate: 25.11.2026, 20261125\nTracking number 48291034',
    code: null,
  },
  { shape: 'other codes', text: 'Promo code: 4829\nZip code: 94107\nArea code 0415', code: null },
  { shape: 'counts and an address', text: '25000 people read it\n10117 Berlin', code: null },
  {
    shape: 'the code of programs',
    text: 'Code review for PR 4829 is ready: line 2048',
    code: null,
  },
  { shape: 'words of many digits', text: 'a1b2-482913-ff 4829134829134829 v1.4829', code: null },
];

export const codeMails = [...english, ...others];
export const mailsWithoutCode = none;
