// The split of a reply into the sender's words and the quoted ones.
import { describe, expect, it } from 'vitest';
import { wordsOfMail } from '../../../src/mail/parse/mail-words.ts';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';
import { htmlToText } from '../../../src/mail/parse/reply/html-reply.ts';
import { splitReply } from '../../../src/mail/parse/reply/reply-split.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { comparable, pairs, splitPair } from './by-others.ts';
import { fixture } from './fixture.ts';
import { nothingQuoted, replies } from './replies.ts';

describe('the split of a reply', () => {
  it.each([
    ['gmail-reply-en', 'Sounds good, see you at noon.', 'On Tue, Mar 4', '> Alice'],
    ['gmail-reply-de', 'Klingt gut, bis zwölf.', 'Am Di., 4. März', '> wollen wir uns treffen?'],
    ['gmail-reply-fr', "D'accord, à midi.", 'Le mar. 4 mars', '> on se voit ?'],
    ['outlook-reply-en', 'Done, thanks.', '____', 'Hi Bob, is it done?'],
    ['outlook-reply-de', 'Erledigt, danke.', '____', 'Hallo Bob, ist es erledigt?'],
    ['outlook-reply-fr', "C'est fait, merci.", '____', "Bonjour Bob, c'est fait ?"],
    ['outlook-html-en', 'Done, thanks.', 'From: Alice', 'Hi Bob, is it done?'],
    ['outlook-html-de', 'Erledigt, danke.', 'Von: Alice', 'Hallo Bob, ist es erledigt?'],
    ['outlook-html-fr', "C'est fait, merci.", 'De : Alice', "Bonjour Bob, c'est fait ?"],
    ['apple-reply-en', 'Yes', '> On 4 Mar', 'Shall we?'],
    ['apple-reply-de', 'Ja', '> Am 04.03', 'Wollen wir?'],
    ['apple-reply-fr', 'Oui', '> Le 4 mars', 'On y va ?'],
    ['gmail-forward', 'For your information.', '---------- Forwarded', 'shall we?'],
    ['inline-answers', 'Yes.\n\nNo.', 'On 2025-03-04', '> Second question?'],
  ])('is right for %s', async (name, newContent, quotedStart, quotedEnd) => {
    const parsed = await parseMime(fixture(name));
    expect(parsed.newContent).toBe(newContent);
    expect(parsed.quotedContent?.startsWith(quotedStart)).toBe(true);
    expect(parsed.quotedContent?.endsWith(quotedEnd)).toBe(true);
    expect(parsed.hasQuotedContent).toBe(true);
  });

  it('works on HTML alone, with the attribution above the blockquote', () => {
    const html =
      '<div dir="ltr">Fine.</div><br><div class="gmail_quote"><div class="gmail_attr">On Tue, Mar 4, 2025 at 10:12 AM Alice &lt;<a href="mailto:a@b.example">a@b.example</a>&gt; wrote:<br></div><blockquote>Hi<blockquote>older</blockquote></blockquote></div>';
    const split = splitReply(htmlToText(html));
    expect(split.newContent).toBe('Fine.');
    expect(split.quotedContent).toMatch(/^On Tue, Mar 4.* wrote:\n+> Hi\n> \n> > older$/);
  });

  it('works on the HTML when the plain alternative has no words', async () => {
    const raw = `From: a@b.example
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/plain


--b
Content-Type: text/html

<p>Only here</p>
--b--
`;
    expect((await parseMime(Buffer.from(raw))).newContent).toBe('Only here');
  });

  it('finds an attribution in another language without a ">" after it', () => {
    const split = splitReply(
      'Prima.\n\nOp di 4 mrt 2025 om 10:12 schreef Alice <a@b.example>:\n\nHoi Bob,\ndoen we het?\n',
    );
    expect(split.newContent).toBe('Prima.');
    expect(split.quotedContent).toMatch(/^Op di 4 mrt[\s\S]*doen we het\?$/);
  });

  it('finds a plain "Original Message" block', () => {
    const split = splitReply(
      'Ok\n\n-----Original Message-----\nFrom: Alice\nSent: Tuesday\nSubject: Plan\n\nHi',
    );
    expect(split).toEqual({
      newContent: 'Ok',
      quotedContent: '-----Original Message-----\nFrom: Alice\nSent: Tuesday\nSubject: Plan\n\nHi',
      hasQuotedContent: true,
      signature: null,
    });
  });

  it('leaves nothing new when all is quoted', () => {
    expect(splitReply('> a\n> b')).toMatchObject({ newContent: '', quotedContent: '> a\n> b' });
  });
});

describe('a text without a quotation', () => {
  it.each([
    ['Hello,\n\nOn the other side, all is well.\n\nRegards,\nBob'],
    ['Section 1\n\n---\n\nSection 2\n\nCheers,\nmore text after that'],
    ['From: the start\nwe knew.'],
    ['Steps:\n1. a -> b\n2. c > d'],
  ])('stays whole: %j', (text) => {
    expect(splitReply(text)).toEqual({
      newContent: text,
      quotedContent: null,
      hasQuotedContent: false,
      signature: null,
    });
  });
});

describe('a mail of another program', () => {
  it.each(pairs.map((pair) => [pair.kind, pair.name, pair] as const))(
    'has the words of its sender as new content (%s): %s',
    (_kind, _name, pair) => {
      expect(comparable(splitPair(pair).newContent)).toBe(comparable(pair.newContent));
    },
  );
});

describe('a signature', () => {
  it.each([
    ['below its delimiter', 'It runs.\n\n-- \nBob\nACME', '-- \nBob\nACME'],
    ['of a phone', 'It runs.\n\nSent from my iPhone', 'Sent from my iPhone'],
  ])('is neither new nor quoted %s', (_, text, signature) => {
    expect(splitReply(text)).toEqual({
      newContent: 'It runs.',
      quotedContent: null,
      hasQuotedContent: false,
      signature,
    });
  });

  it('is found by search in a mail with HTML alone', async () => {
    const html = '<p>It runs.</p><div class="gmail_signature">Bob, Room 4711</div>';
    const mail = await parseMime(Buffer.from(`Content-Type: text/html\r\n\r\n${html}`));
    expect([mail.newContent, mail.signature]).toEqual(['It runs.', 'Bob, Room 4711']);
    expect(JSON.stringify(wordsOfMail(mail))).toContain('4711');
  });

  it('is not a long text below a delimiter', () => {
    const text = `Part 1\n\n--\n\n${'Part 2 goes on.\n'.repeat(30)}End`;
    expect(splitReply(text)).toMatchObject({ newContent: text, signature: null });
  });
});

describe('a forwarded mail without a word of its sender', () => {
  const forwarded = 'From: Alice\nSent: Tuesday\nTo: Bob\nSubject: Plan\n\nShall we?';

  it('is new content when it is embedded', () => {
    expect(splitReply(`\n${forwarded}\n`)).toEqual({
      newContent: forwarded,
      quotedContent: null,
      hasQuotedContent: false,
      signature: null,
    });
  });

  it('is new content when only a signature is above it', () => {
    expect(splitReply(`-- \nBob\n\n${forwarded}`).newContent).toContain('Shall we?');
  });

  const carrier = (own: string, attached: string) =>
    Buffer.from(
      `From: bob@example.net
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

${own}
--b
Content-Type: message/rfc822
Content-Disposition: attachment

${attached}
--b--
`.replaceAll('\n', '\r\n'),
    );

  it.each([
    ['text', 'From: a@b.example\nSubject: Plan\n\nShall we?\n'],
    ['HTML', 'From: a@b.example\nContent-Type: text/html\n\n<p>Shall we?</p>\n'],
  ])('is new content when it is attached as %s', async (_, attached) => {
    const mail = await parseMime(carrier('', attached));
    expect(mail).toMatchObject({ newContent: 'Shall we?', quotedContent: null });
    expect(mail.text?.trim()).toBe('');
  });

  it('leaves the new content alone when its carrier has words', async () => {
    const mail = await parseMime(carrier('See below.', 'Subject: Plan\n\nShall we?\n'));
    expect(mail.newContent).toBe('See below.');
  });
});

describe('a reply by program', () => {
  it.each(replies.map((one) => [one.program, one.form, one] as const))(
    'is split for %s: %s',
    async (_program, _form, { raw, newContent, quotedStart }) => {
      const parsed = await parseMime(raw);
      expect(parsed.newContent).toBe(newContent);
      expect(parsed.quotedContent?.split('\n')[0]?.trimEnd()).toBe(quotedStart);
    },
  );

  it('is known for at least 12 programs', () => {
    expect(new Set(replies.map(({ program }) => program)).size).toBeGreaterThanOrEqual(12);
  });

  it.each(nothingQuoted)('keeps all of %s as new content', (_what, text) => {
    expect(splitReply(text)).toEqual({
      newContent: text,
      quotedContent: null,
      hasQuotedContent: false,
      signature: null,
    });
  });

  it.each([
    ['a:\n'],
    ['On 4 Mar 2025 at 10:12, Alice <a@b.example>\n'],
    ['On 4 Mar 2025 at 10:12, somebody who has a long name here:\n'],
    ['| '],
    ['|\n'],
    ['Alice schrieb '],
    ['*_'],
    ['<mailto:'],
    ['1:1 '],
    ['From: a\n'],
    ['----- '],
    ['-----\n'],
    ['-- \n'],
    ['____\n'],
    ['Sent from my iPhone\n'],
    ['Sent from my '],
    ['This e-mail '],
    ['This message is\n\n'],
    ['On 4 Mar 2025 10:12 a@b wrote '],
    ['##- '],
    ['\ufdd1\n'],
    ['> a\nb\n'],
  ])('is split fast for 256 KB of %j', (piece) => {
    const text = piece.repeat(256_000 / piece.length);
    const started = startWork();
    splitReply(text);
    splitReply(`${text}:\n> quoted`);
    expect(workedMs(started)).toBeLessThan(1_000);
  });
});
