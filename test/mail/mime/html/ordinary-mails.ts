// Ordinary mails (data): the ways of templates, editors, help desks and people to write HTML that
// hides nothing from a reader but a preheader.
import mjml2html from 'mjml';

const lead =
  'Your order 4711 has left our warehouse. Track it here, and tell us when it has arrived.';
const filler = '&zwnj;&nbsp;'.repeat(80);
const grapheme = '&#847;&zwnj;&nbsp;&#8199;&shy;'.repeat(40);
const words =
  '<h1>Thank you, Ada</h1><p>Your order has left our warehouse and will arrive on Friday, between eight and noon.</p>';

const page = (body: string, head = '', attributes = '') =>
  `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
  <html xmlns="http://www.w3.org/1999/xhtml" xmlns:v="urn:schemas-microsoft-com:vml" lang="en"><head>
  <meta http-equiv="Content-Type" content="text/html; charset=utf-8"><title>Order</title>${head}</head>
  <body style="margin:0;padding:0" ${attributes}>${body}</body></html>`;
const sheet = (css: string, body: string, attributes = '') =>
  page(body, `<style type="text/css">${css}</style>`, attributes);
const preheader = (style: string, text = lead, name = 'div') =>
  page(`<${name} style="${style}">${text}</${name}>${words}`);
const mjml = async (body: string, head = '') => {
  const whole = `<mjml><mj-head>${head}</mj-head><mj-body>${body}</mj-body></mjml>`;
  return (await mjml2html(whole, { fonts: {} })).html;
};
const section = (inner: string, attributes = '') =>
  `<mj-section ${attributes}><mj-column>${inner}</mj-column></mj-section>`;

/** Words that phones show instead of those of a wide screen. */
const onPhones = `<div class="mobile" style="display:none;font-size:0;max-height:0;overflow:hidden;mso-hide:all">
  <p>On your way? Show this code at our counter, and a colleague brings your parcel within two minutes.</p></div>`;
const dark = `:root{color-scheme:light dark} @media (prefers-color-scheme:dark){body,.page{background:#111!important}
  .page p,h1{color:#fff!important}.light-logo{display:none!important}.dark-logo{display:block!important}}`;

export const ordinaryMails: Readonly<Record<string, string>> = {
  'MJML: text': await mjml(
    section('<mj-text>Hello Ada, your order has left our warehouse today.</mj-text>'),
  ),
  'MJML: a preview': await mjml(
    section('<mj-text>Hello</mj-text>'),
    `<mj-preview>${lead}</mj-preview>`,
  ),
  'MJML: a button': await mjml(
    section(
      '<mj-button href="https://a.example" background-color="#00aaff">Track your order now</mj-button>',
    ),
  ),
  'MJML: white on a dark section': await mjml(
    section(
      '<mj-text color="#ffffff">All the news of the winter, in one mail</mj-text>',
      'background-color="#222222"',
    ),
  ),
  'MJML: a picture behind': await mjml(
    section(
      '<mj-text color="white">The winter sale begins on Friday at eight</mj-text>',
      'background-url="https://a.example/x.jpg"',
    ),
  ),
  'MJML: columns': await mjml(
    '<mj-section><mj-column><mj-text>One</mj-text></mj-column><mj-column><mj-text>Two</mj-text></mj-column></mj-section>',
  ),
  'MJML: social': await mjml(
    section(
      '<mj-social><mj-social-element name="facebook" href="https://a.example">Follow us on Facebook</mj-social-element></mj-social>',
    ),
  ),
  'MJML: a hero': await mjml(
    '<mj-hero background-url="https://a.example/x.jpg" background-width="600px" background-height="400px"><mj-text color="#fff">Go to space with us this summer</mj-text></mj-hero>',
  ),
  'MJML: a navigation bar': await mjml(
    section(
      '<mj-navbar hamburger="hamburger"><mj-navbar-link href="/a">Women and girls</mj-navbar-link><mj-navbar-link href="/b">Men and boys</mj-navbar-link></mj-navbar>',
    ),
  ),
  'MJML: an accordion': await mjml(
    section(
      '<mj-accordion><mj-accordion-element><mj-accordion-title>Why so early this year?</mj-accordion-title><mj-accordion-text>Because the snow came early, and our warehouse is full to the roof.</mj-accordion-text></mj-accordion-element></mj-accordion>',
    ),
  ),
  'MJML: a spacer, a divider and a picture': await mjml(
    section(
      '<mj-spacer height="1px" /><mj-divider /><mj-image src="https://a.example/a.png" alt="Two people open a parcel at their door" /><mj-text>Hi</mj-text>',
    ),
  ),
  'a preheader': preheader('display:none'),
  'a preheader by everything': preheader(
    'display:none;font-size:1px;color:#ffffff;line-height:1px;max-height:0px;max-width:0px;opacity:0;overflow:hidden;',
  ),
  'a preheader with a filler': preheader(
    'display:none;max-height:0;overflow:hidden',
    `${lead}${filler}`,
  ),
  'a preheader with its filler apart': page(
    `<div style="display:none">${lead}</div><div style="display:none">${grapheme}</div>${words}`,
  ),
  'a preheader in a span': preheader(
    'color:transparent;display:none;height:0;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all;visibility:hidden;width:0',
    lead,
    'span',
  ),
  'a preheader without display': preheader('max-height:0;overflow:hidden;mso-hide:all'),
  'a preheader of white letters': preheader('font-size:1px;color:#fff;line-height:1px'),
  'a preheader of a class': sheet(
    '.preheader{display:none !important;visibility:hidden;opacity:0;color:transparent;height:0;width:0}',
    `<span class="preheader">${lead}</span>${words}`,
  ),
  'a preheader in a cell': page(
    `<table><tr><td style="display:none;font-size:0;line-height:0">${lead}</td></tr><tr><td>${words}</td></tr></table>`,
  ),
  'a preheader that repeats a long beginning': page(
    `<div style="display:none">${'We moved into a new warehouse, and so much has changed. '.repeat(6)}</div><p>${'We moved into a new warehouse, and so much has changed. '.repeat(6)}</p>`,
  ),
  'a preheader with a character of each kind': preheader(
    'display:none',
    `Ada’s 20&nbsp;% off — “today” only &#128640; ${filler}`,
  ),
  'a preheader in Japanese': preheader(
    'display:none',
    '本日限り、全品送料無料でお届けします。ぜひこの機会にご利用ください。',
  ),
  'a white page': page(
    `<div style="background:#fff;color:#222">${words}</div>`,
    '',
    'bgcolor="#ffffff"',
  ),
  'white cells with white borders': page(
    `<table bgcolor="white" style="border:1px solid #ffffff"><tr><td style="background-color:#ffffff;color:#000000">${words}</td></tr></table>`,
  ),
  'white on a coloured table': page(
    `<table bgcolor="#0a3d62"><tr><td style="color:#ffffff">${words}</td></tr></table>`,
  ),
  'white on a coloured body': page(
    `<div style="color:#fff">${words}</div>`,
    '',
    'bgcolor="#000000"',
  ),
  'white on a class': sheet(
    '.hero{background:#123456;padding:20px}.hero p,.hero h1{color:#fff}',
    `<div class="hero">${words}</div>`,
  ),
  'white on a descendant': sheet(
    'table.main td.head{background-color:rgb(10 20 30 / 90%)} .main .head a{color:white}',
    `<table class="main"><tr><td class="head"><a href="https://a.example">Read the news of all shops of this week</a></td></tr></table>${words}`,
  ),
  'white on a picture': page(
    `<table><tr><td background="https://a.example/bg.jpg" style="color:#fff">${words}</td></tr></table>`,
  ),
  'white on a gradient': page(
    `<div style="background:linear-gradient(90deg,#ff0080,#7928ca);color:#fff">${words}</div>`,
  ),
  'white on a picture of the style': page(
    `<div style="background-image:url('data:image/png;base64,AAAA');color:white">${words}</div>`,
  ),
  'letters cut out of a gradient': page(
    `<h1 style="background:linear-gradient(#f00,#00f);-webkit-background-clip:text;color:transparent">The winter sale has begun in all our shops</h1>`,
  ),
  'a button of a link': page(
    `${words}<a href="https://a.example" style="background-color:#28a745;color:#ffffff;padding:12px;mso-hide:all">Track the way of your order now</a>`,
  ),
  'a button of a cell with VML': page(
    `${words}<!--[if mso]><v:roundrect fillcolor="#556270"><center style="color:#ffffff">Show me the way of the order!</center></v:roundrect><![endif]--><!--[if !mso]><!--><table><tr><td bgcolor="#556270"><a href="#" style="color:#fff;font-size:13px">Show me the way of the order!</a></td></tr></table><!--<![endif]-->`,
  ),
  'a link in a white text': page(
    `<table bgcolor="#222"><tr><td style="color:#fff">See <a href="https://a.example" style="color:inherit">all the terms of the winter sale of this year</a></td></tr></table>`,
  ),
  'a link without a colour in white cells': page(
    '<table><tr><td style="color:#fff"><a href="https://a.example">See all the terms of the winter sale of this year</a></td></tr></table>',
  ),
  'a pixel': page(
    `${words}<img src="https://t.example/o.gif" width="1" height="1" style="display:none;max-height:0" alt="">`,
  ),
  'a pixel in a hidden cell': page(
    `${words}<div style="font-size:0;line-height:0;height:0;overflow:hidden"><img src="https://t.example/o.gif" alt="an open is counted by this picture of one pixel"></div>`,
  ),
  'alternative texts': page(
    `${words}<img alt="A map of the way that your parcel takes, with all of its stops" src="https://a.example/m.png" hidden>`,
  ),
  'cells without letters between': page(
    `<table style="font-size:0"><tr><td style="font-size:0;line-height:0">&nbsp;</td><td style="font-size:14px;line-height:20px">${words}</td></tr></table>`,
  ),
  spacers: page(
    `<div style="height:0;max-height:0;overflow:hidden">&nbsp;</div>${words}<div style="line-height:0;font-size:1px;height:1px;overflow:hidden">&#8202;</div>`,
  ),
  'inline blocks in a container without letters': page(
    `<div style="font-size:0;text-align:center"><div style="display:inline-block;font-size:16px">${words}</div></div>`,
  ),
  'words that phones show': sheet(
    `@media only screen and (max-width:480px){.mobile{display:block!important;max-height:none!important;font-size:16px!important}.wide{display:none!important}}`,
    `<div class="wide">${words}</div>${onPhones}`,
  ),
  'words that wide screens hide by a rule': sheet(
    '.mobile{display:none} @media (max-width: 600px) { .mobile { display: table !important } }',
    words + onPhones.replace(/style="[^"]*"/, ''),
  ),
  'words that phones hide': sheet(
    '@media screen and (max-width:600px){.hide{display:none!important;font-size:0!important;visibility:hidden}}',
    `${words}<p class="hide">This offer is for everyone who has ordered with us within the last year.</p>`,
  ),
  'a dark look': sheet(
    dark,
    `<div class="page">${words}<img class="dark-logo" style="display:none" alt="the logo of the shop for dark screens" src="x"></div>`,
  ),
  'rules for Outlook': page(
    words,
    '<!--[if mso]><style>p{color:#ffffff;display:none}</style><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml><![endif]-->',
  ),
  'rules for print and for states': sheet(
    '@media print{p,h1{display:none}} a:hover,p:hover{color:#fff} p:active{opacity:0} .x:checked{display:none}',
    words,
  ),
  'rules for the clients of others': sheet(
    'u + .body .x{display:none} #MessageViewBody a{color:inherit} a[x-apple-data-detectors]{color:inherit!important;font-size:inherit!important} .ExternalClass{width:100%} @-ms-viewport{width:device-width} @font-face{font-family:A;src:url(a.woff)} p{margin:0}',
    `<div class="x">${words}</div>`,
    'class="body"',
  ),
  'stripes of a table': sheet(
    'td{color:#fff} tr:nth-child(odd) td{background:#333} tr:nth-child(even) td{background:#444}',
    '<table><tr><td>One woollen pullover in blue, size small</td></tr><tr><td>Two pairs of socks in green, size large</td></tr></table>',
  ),
  'the comments of a template': page(
    `<!-- The background colour of the mail stands in three places: the body tag for most clients, the center tag for Gmail, and the condition below for Windows 10 Mail -->${words}`,
  ),
  'a reply of Outlook': page(
    `<div class="WordSection1"><p class="MsoNormal"><span style="font-size:11.0pt;font-family:&quot;Calibri&quot;,sans-serif;color:#1F497D">Hi Ada, I will be there at nine on Friday and bring the papers.<o:p></o:p></span></p></div><hr style="display:none" id="stopSpelling">`,
    '<style><!-- p.MsoNormal{margin:0cm;font-size:11.0pt} a:link,span.MsoHyperlink{color:#0563C1} div.WordSection1{page:WordSection1} --></style>',
  ),
  'a reply of Gmail':
    '<div dir="ltr">Thanks, that works for me.<br clear="all"><div><br></div></div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">On Fri, Ada wrote:<br></div><blockquote class="gmail_quote" style="margin:0 0 0 .8ex;border-left:1px #ccc solid;padding-left:1ex">Shall we meet on Friday at nine in the small room?</blockquote></div>',
  'a reply of Apple Mail':
    '<html><head></head><body style="overflow-wrap:break-word;-webkit-nbsp-mode:space;line-break:after-white-space;">Fine with me, see you all on Friday.<br><br><blockquote type="cite">On 3 May 2026, at 10:00, Ada wrote:<br><br>Shall we meet on Friday?</blockquote></body></html>',
  'a mark of a help desk': page(
    `<div style="color:#b5b5b5">##- Please type your reply above this line -##</div>${words}<span style="color:#FFFFFF" aria-hidden="true">[Z4K2QX-9P3R]</span>`,
  ),
  'the id of a thread': page(
    `${words}<span style="font-size:0px;color:white">ref:_00D3x4711.5003x9:ref</span>`,
  ),
  'labels for screen readers': sheet(
    '.sr-only{position:absolute;left:-9999px}',
    `${words}<a href="https://a.example"><span class="sr-only">Opens in a new tab</span>Shop</a>`,
  ),
  'a notice of a forge': `<p><strong>bot</strong> left a comment:</p><details><summary>Release notes</summary><p>This release mends the reader of dates, and reads years before 1900 as well.</p></details><p style="font-size:small;color:#666">Reply to this email directly.<br/><img src="https://a.example/b.gif" height="1" width="1" alt="" /><span style="color: transparent; font-size: 0; display: none; visibility: hidden; overflow: hidden; opacity: 0; width: 0; height: 0; max-width: 0; max-height: 0; mso-hide: all">Message ID: 4711-11</span></p>`,
  'an overlay': page(
    `<div style="max-height:0;position:relative;opacity:0.999"><div style="margin-top:-40px;color:#333">The sale begins on Friday in all shops of the town</div></div>${words}`,
  ),
  'a box of one ratio': page(
    `<div style="height:0;padding-bottom:56.25%;overflow:hidden;position:relative"><p style="position:absolute;top:0">See how a parcel is packed in our new warehouse</p></div>${words}`,
  ),
  'words that stand upright': page(
    `${words}<div style="transform:rotate(-90deg)">The winter sale begins on Friday in all shops</div>`,
  ),
  'small print': page(
    `${words}<p style="font-size:9px;line-height:11px;color:#999999">You get this mail because you have ordered with us. Our address is 1 Main Street.</p>`,
  ),
  'pale small print on grey': page(
    `${words}<table bgcolor="#f4f4f4"><tr><td style="color:#bbbbbb;font-size:10px">You get this mail because you have ordered with us this year.</td></tr></table>`,
  ),
  'yellow on white': page(
    `<p style="color:#ffff00">Hello Ada, our summer sale begins on Friday in all shops</p>`,
  ),
  'unknown colours': page(
    '<div style="background:var(--page);color:#fff">The winter sale begins on Friday in all of our shops</div>',
  ),
  'an unclosed paragraph': page(
    `<p style="display:none">${lead}<p>Hello Ada, your order has left our warehouse today<ul><li>one<li>two</ul>`,
  ),
  'an entity for each letter': page(
    '<p>&#72;&#101;&#108;&#108;&#111; &amp; welcome to the caf&eacute; on the corner of our street</p>',
  ),
  'right to left':
    '<div dir="rtl" style="text-align:right">שלום עדה, ההזמנה שלך יצאה היום מהמחסן ותגיע ביום שישי</div>',
  'an invitation': page(
    `<div style="display:none"><span itemprop="name">Meeting on Friday at nine</span></div><h2>Meeting on Friday at nine</h2><span aria-hidden="true"><time itemprop="startDate" datetime="20260503T090000Z"></time></span><table style="border-collapse:collapse"><tr><th style="text-align:left">Where</th><td>the small room</td></tr></table>`,
  ),
  'plain words': '<p>Hello Ada,</p><p>see you on Friday at nine, in the small room.</p><p>Bob</p>',
  nothing:
    '<html><body><img src="https://a.example/all.png" alt="The sale begins on Friday in all shops of the town"></body></html>',
};
