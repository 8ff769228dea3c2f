// The footer of a brand at the end of content without a template.
import { describe, expect, it } from 'vitest';
import { withFooter } from '../../../src/content/rendering/footer.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { someValues } from './fill-fixture.ts';

const { brand } = someValues;
if (!brand) throw new Error('the fixture has a brand');

const htmlWith = (html: string) => withFooter({ html, text: null }, brand, null).html;

describe('withFooter', () => {
  it.each([
    ['<p>x</p>', '<p>x</p>§'],
    ['<html><body>x</body></html>', '<html><body>x§</body></html>'],
    ['<BODY>x</BODY\n></HTML >', '<BODY>x§</BODY\n></HTML >'],
    ['<html>x</html>', '<html>x§</html>'],
    ['<body>x<!-- </body> -->', '<body>x<!-- </body> -->§'],
    ['<body title="</body>">x', '<body title="</body>">x§'],
    ['<style>/* </body> */</style>x', '<style>/* </body> */</style>x§'],
    ['<!--[if mso]></body><![endif]--></body>', '<!--[if mso]></body><![endif]-->§</body>'],
    ['<body>x</bodyguard>', '<body>x</bodyguard>§'],
  ])('finds the end of the body in %j', (html, expected) => {
    expect(htmlWith(html)?.replace(/<div style.*<\/div>/, '§')).toBe(expected);
  });

  it.each([
    ['</body>\n</html>\n', '§</body>\n</html>\n'],
    ['</body>', '§</body>'],
    ['', '§'],
  ])('finds the end %j of HTML of 2 MB in 50 ms', (end, expected) => {
    const start = startWork();
    const html = htmlWith('<a b=c>'.repeat(300_000) + end) ?? '';
    expect(workedMs(start)).toBeLessThan(50);
    expect(html.slice(2_100_000).replace(/<div style.*<\/div>/, '§')).toBe(expected);
  });

  it('ends a text with the lines of the footer', () => {
    const { text } = withFooter({ html: null, text: 'x\n\n' }, brand, 'https://svc.test/u/1');
    expect(text).toMatch(/^x\n\nAcme & Sons\n.*\nNews "daily": .*\nUnsubscribe: https:\S+\n$/s);
  });

  it('takes line breaks out of the values of the brand', () => {
    const footer = { ...brand.footer, companyName: 'Acme\r\nEvil' };
    const { text } = withFooter({ html: null, text: 'x' }, { ...brand, footer }, null);
    expect(text).toContain('Acme Evil\n');
  });

  it('leaves out social links that run code', () => {
    const socialLinks = [{ label: 'x', url: ' java\nscript:alert(1)' }];
    const footer = { ...brand.footer, socialLinks };
    const { html } = withFooter({ html: '', text: null }, { ...brand, footer }, null);
    expect(html).not.toContain('script:');
  });
});
