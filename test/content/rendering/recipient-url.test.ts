// The URL that stands for the unsubscribe link of each recipient, in texts that others wrote.
import { describe, expect, it } from 'vitest';
import { withRecipientUrl } from '../../../src/content/rendering/recipient-url.ts';
import { startWork, workedMs } from '../../support/work-time.ts';

const url = 'https://a.example/u/token';
const replaced = (text: string) => withRecipientUrl(text, url);

describe('the URL of each recipient', () => {
  it('is put in place of the marker at every place', () => {
    const marker = 'https://mail.example:8443/base/u/of-this-recipient';
    expect(replaced(`<a href="${marker}">x</a> ${marker}, (${marker})`)).toBe(
      `<a href="${url}">x</a> ${url}, (${url})`,
    );
  });

  it.each([
    'no URL: /u/of-this-recipient',
    'another scheme: ftp://a.example/u/of-this-recipient',
    'no host: https:///u/of-this-recipientx',
    'another path: https://a.example/u/of-this-recipients',
    `a long host: https://${'a'.repeat(400)}/u/of-this-recipient`,
    'a gap: https://a.example /u/of-this-recipient',
  ])('leaves alone %s', (text) => {
    expect(replaced(text)).toBe(text);
  });

  it.each([
    ['beginnings of URLs', `${'http://'.repeat(1_000_000)} /u/of-this-recipient`],
    ['markers', 'http://a/u/of-this-recipient'.repeat(250_000)],
    ['markers without a beginning', '/u/of-this-recipient'.repeat(350_000)],
  ])('takes no time for a text of many %s', (_, text) => {
    const start = startWork();
    replaced(text);
    expect(workedMs(start)).toBeLessThan(50);
  });
});
