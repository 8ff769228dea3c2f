// Notes on HTML for a person who decides: what it has beside the words that a text shows.
import { expect, it } from 'vitest';
import { notesOnHtml } from '../../../../src/mail/mime/html/notes.ts';

it.each([
  ['<img src="https://cdn.example.com/a.png">', 'The HTML loads a picture from cdn.example.com.'],
  [
    '<td background="//one.example/x"><img src="http://two.example:8080/y">',
    'The HTML loads 2 pictures from one.example, two.example:8080.',
  ],
  [
    ['a', 'b', 'c', 'd', 'e'].map((one) => `<img src="https://${one}.example/">`).join(''),
    'The HTML loads 5 pictures from a.example, b.example, c.example and 2 more.',
  ],
  ['<form action="https://x.example"><input name="p"></form>', 'The HTML has a form.'],
  [
    '<style>p::after { content: "pay now" }</style>',
    'A style sheet adds words (::before, ::after).',
  ],
  ['<!--[if mso]><p>Outlook</p><![endif]-->', 'Outlook shows parts that others do not.'],
  [
    `<p>${'x'.repeat(300_000)}</p>`,
    'Only the first 256 KB of the HTML were looked at for this list.',
  ],
])('%.40s', (html, note) => {
  expect(notesOnHtml(html)).toEqual([note]);
});

it.each([
  '<p>Hello <a href="https://example.com">there</a></p>',
  '<img src="cid:logo@example.com"><img src="data:image/png;base64,AA==">',
  '<style>p::after { content: "" }</style><p>Hi</p>',
  '<!-- a comment on mso --><p>Hi</p>',
])('has none for %.40s', (html) => {
  expect(notesOnHtml(html)).toEqual([]);
});
