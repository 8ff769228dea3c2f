// Forty HTML mails as people and programs write them, also badly. Each has the expected number of
// tracked links and of places for a pixel.

export interface CorpusMail {
  name: string;
  html: string;
  links: number;
  /** False where a tag at the end has no effect. */
  pixel?: boolean;
}

const a = (href: string, text = 'read') => `<a href="${href}">${text}</a>`;
const shop = 'https://shop.example/';

export const corpus: CorpusMail[] = [
  { name: 'a fragment', html: `<p>Hello ${a(shop)}</p>`, links: 1 },
  { name: 'a page', html: `<!doctype html><html><body>${a(shop)}</body></html>`, links: 1 },
  { name: 'a page without body tags', html: `<html><p>x${a(shop)}</html>`, links: 1 },
  { name: 'text behind the body', html: `<body>${a(shop)}</body></html>\nPS: more`, links: 1 },
  { name: 'two pages in one', html: `<body>${a(shop)}</body><body>${a(shop)}</body>`, links: 2 },
  {
    name: 'MSO conditionals',
    html: `<!--[if mso]><table><tr><td>${a('https://mso.example/')}<![endif]-->${a(shop)}<!--[if mso]></td></tr></table><![endif]-->`,
    links: 1,
  },
  {
    name: 'a revealed conditional',
    html: `<!--[if !mso]><!-->${a(shop)}<!--<![endif]--><![if !vml]>${a(shop)}<![endif]>`,
    links: 2,
  },
  {
    name: 'VML',
    html: `<!--[if mso]><v:roundrect href="https://v.example/" arcsize="8%"><w:anchorlock/></v:roundrect><![endif]--><p>x</p>`,
    links: 0,
  },
  { name: 'mail and telephone', html: `${a('mailto:a@b.example')}${a('tel:+491')}`, links: 0 },
  { name: 'an attached image', html: `<img src="cid:logo">${a('cid:file')}`, links: 0 },
  { name: 'anchors', html: `${a('#top')}<a name="top">x</a><a>no address</a>`, links: 0 },
  {
    name: 'relative and odd',
    html: `${a('/x')}${a('//x.example/')}${a('javascript:x')}`,
    links: 0,
  },
  { name: 'data-no-track', html: `<a data-no-track href="${shop}">x</a>${a(shop)}`, links: 1 },
  { name: 'unsubscribe', html: `${a(`${shop}unsubscribe?u=1`)}${a(`${shop}opt-out`)}`, links: 0 },
  { name: 'no quotes', html: `<a href=${shop}x>x</a><a class=b href=${shop}y>y</a>`, links: 2 },
  { name: 'single quotes', html: `<a href='${shop}?a="b"'>x</a>`, links: 1 },
  { name: 'spaces around', html: `<a\n  href =\n  "  ${shop}  "\n>x</a>`, links: 1 },
  { name: 'capitals', html: `<A HREF="HTTPS://SHOP.EXAMPLE/X">x</A>`, links: 1 },
  { name: 'two addresses', html: `<a href="${shop}1" href="${shop}2">x</a>`, links: 1 },
  { name: 'entities', html: a('https://shop.example/?a=1&amp;b=2&copy=3&#x26;c'), links: 1 },
  {
    name: 'letters of the world',
    html: `<p>日本語 😀 é</p>${a('https://münchen.example/straße?q=ü')}`,
    links: 1,
  },
  {
    name: 'an image map',
    html: `<map name="m"><area shape="rect" href="${shop}"></map>`,
    links: 1,
  },
  {
    name: 'an image in a link',
    html: `<a href="${shop}"><img src="https://x.example/i.png"></a>`,
    links: 1,
  },
  { name: 'nested links', html: `<a href="${shop}1">one<a href="${shop}2">two</a></a>`, links: 2 },
  { name: 'a link in a table without cells', html: `<table>${a(shop)}<tr><td>x</table>`, links: 1 },
  {
    name: 'a style sheet',
    html: `<style>a > b { content: "<a href=${shop}>" }</style>${a(shop)}`,
    links: 1,
  },
  { name: 'a script', html: `<script>x = '<a href="${shop}">';</script>${a(shop)}`, links: 1 },
  { name: 'a title', html: `<title><a href="${shop}">x</a></title><p>y</p>`, links: 0 },
  { name: 'SVG', html: `<svg><a href="${shop}"><text>x</text></a></svg>`, links: 1 },
  { name: 'a text of more than a line', html: `<pre>\n\n  x\r\n  ${a(shop)}\r</pre>`, links: 1 },
  { name: 'templates left over', html: `${a('{{ url }}')}${a('https://{{host}}/x')}`, links: 1 },
  { name: 'a port and a password', html: a('https://u:p@shop.example:8443/x?y#z'), links: 1 },
  { name: 'bold left open', html: `<body><p><b>bold ${a(shop)}</body>`, links: 1 },
  {
    name: 'an unclosed tag at the end',
    html: `${a(shop)}<a href="${shop}`,
    links: 1,
    pixel: false,
  },
  { name: 'an unclosed comment', html: `${a(shop)}<!-- ${a(shop)}`, links: 1, pixel: false },
  { name: 'an unclosed text area', html: `${a(shop)}<textarea>${a(shop)}`, links: 1, pixel: false },
  { name: 'an unclosed style', html: `${a(shop)}<style>p{} ${a(shop)}`, links: 1, pixel: false },
  { name: 'nothing closed', html: `<html><body><div><p>x<a href="${shop}">y<td>z`, links: 1 },
  { name: 'nothing at all', html: '  ', links: 0 },
  {
    name: 'a newsletter',
    html: `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd"><html xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8"/><style type="text/css">@media (max-width:600px){.c{width:100%!important}}</style></head><body bgcolor="#fff"><table width="600" role="presentation"><tr><td style="font-family:'Arial',sans-serif">It isn't "only" a line of text that goes on for long.<br/>${a(`${shop}?utm_source=news&amp;utm_medium=email`)}${a(`${shop}b`)}${a('mailto:x@y.example')}</td></tr></table></body></html>`,
    links: 2,
  },
];
