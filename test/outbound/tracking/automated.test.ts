// The requesters of pixels and links: real user agents of people and machines, and other signs of a
// machine.
import { describe, expect, it } from 'vitest';
import { automatedBy } from '../../../src/outbound/tracking/automated.ts';
import { loadScanners } from '../../../src/outbound/tracking/load-scanners.ts';
import { parseScanners } from '../../../src/outbound/tracking/scanners-schema.ts';

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

const people = [
  chrome,
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0',
  'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17628; Pro)',
  'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; WOW64; Trident/8.0; Microsoft Outlook 16.0.4266; ms-office; MSOffice 16)',
  'Outlook-iOS/723.4027091.prod.iphone (4.28.0)',
  'Dalvik/2.1.0 (Linux; U; Android 13; SM-G991B Build/TP1A.220624.014)',
  'Superhuman',
];

const machines: [string, string][] = [
  [
    'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
    'google-image-proxy',
  ],
  ['Mozilla/5.0 (compatible; Barracuda Sentinel (EE))', 'barracuda'],
  ['Mimecast-MTA/1.0', 'mimecast'],
  ['Mozilla/5.0 (compatible; proofpoint-url-defense)', 'proofpoint'],
  [
    'Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b',
    'microsoft-safe-links',
  ],
  ['Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)', 'link-preview'],
  ['WhatsApp/2.23.20.0 A', 'link-preview'],
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36',
    'headless',
  ],
  ['Symantec-Messaging-Gateway', 'symantec'],
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'bot'],
  ['curl/8.5.0', 'bot'],
  ['python-requests/2.32.3', 'bot'],
  ['Go-http-client/2.0', 'bot'],
];

const asked = (userAgent: string, more = {}) => ({
  method: 'GET',
  headers: { 'user-agent': userAgent },
  remoteAddress: '198.51.100.7',
  ...more,
});

describe('the judgement by user agent', () => {
  it.each(people)('takes this one for a person: %s', (userAgent) => {
    expect(automatedBy('open', asked(userAgent))).toBeNull();
    expect(automatedBy('click', asked(userAgent))).toBeNull();
  });

  it.each(machines)('takes this one for a machine: %s', (userAgent, by) => {
    expect(automatedBy('open', asked(userAgent))).toBe(by);
    expect(automatedBy('click', asked(userAgent))).toBe(by);
  });

  it('takes a bare Mozilla/5.0 for Apple’s privacy proxy at opens and for a bot at clicks', () => {
    expect(automatedBy('open', asked('Mozilla/5.0'))).toBe('apple-mail-privacy');
    expect(automatedBy('click', asked('Mozilla/5.0'))).toBe('bot');
  });

  it("takes Yahoo's image proxy for a person at opens", () => {
    const yahoo = 'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html';
    expect(automatedBy('open', asked(yahoo))).toBeNull();
    expect(automatedBy('click', asked(yahoo))).toBe('bot');
  });

  it('reads only the beginning of a user agent of a megabyte', () => {
    expect(automatedBy('open', asked(chrome + 'x'.repeat(1_000_000)))).toBeNull();
  });
});

describe('the judgement by other signs', () => {
  it.each([
    ['head', { method: 'HEAD' }],
    ['no-user-agent', { headers: {} }],
    ['no-user-agent', { headers: { 'user-agent': '  ' } }],
    ['prefetch', { headers: { 'user-agent': chrome, 'sec-purpose': 'prefetch;prerender' } }],
    ['prefetch', { headers: { 'user-agent': chrome, purpose: 'prefetch' } }],
    ['prefetch', { headers: { 'user-agent': chrome, 'x-moz': 'prefetch' } }],
    ['apple-mail-privacy', { remoteAddress: '17.58.1.2' }],
    ['apple-mail-privacy', { remoteAddress: '::ffff:17.58.1.2' }],
    ['proofpoint', { remoteAddress: '67.231.152.9' }],
  ])('is %s for %o', (by, more) => {
    expect(automatedBy('open', asked(chrome, more))).toBe(by);
  });

  it('applies networks to the kind named in their rule', () => {
    expect(automatedBy('click', asked(chrome, { remoteAddress: '17.58.1.2' }))).toBeNull();
    expect(automatedBy('click', asked(chrome, { remoteAddress: '40.94.3.4' }))).toBe(
      'microsoft-scanner',
    );
    expect(automatedBy('open', asked(chrome, { remoteAddress: null }))).toBeNull();
  });
});

describe('the rules', () => {
  it('are all readable, each with a user agent or networks', () => {
    const rules = loadScanners();
    expect(rules.length).toBeGreaterThan(10);
    expect(rules.filter(({ userAgent, networks }) => !userAgent && networks.length === 0)).toEqual(
      [],
    );
  });

  it.each([
    ['no rule', [{ name: 'x', automated: true }], 'needs a userAgent or networks'],
    ['no pattern', [{ name: 'x', automated: true, userAgent: '(' }], 'is not a regular expression'],
    ['another kind', [{ name: 'x', automated: true, userAgent: 'x', kinds: ['look'] }], 'open'],
  ])('refuse %s', (_what, rules, problem) => {
    expect(parseScanners(rules)).toEqual({ problem: expect.stringContaining(problem) });
  });
});
