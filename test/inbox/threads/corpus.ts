// Forty exchanges as mail programs write them, and their threads. `tree` names the thread of a mail
// within its exchange; the threads are the same in every order of arrival.
import { inbox, type Mail } from './mails.ts';

export interface Exchanged extends Mail {
  id: string;
  tree: string;
}

export interface Exchange {
  name: string;
  mails: Exchanged[];
}

const ada = 'Ada Lovelace <ada@example.com>';
const bo = 'Bo Ek <bo@example.org>';
const cy = 'Cy Young <cy@example.net>';
const both = `${inbox}, bo@example.org`;

type Part = Partial<Mail> & { id: string; tree?: string };

function exchange(name: string, subject: string, ...parts: Part[]): Exchange {
  const mails = parts.map((part) => ({ tree: 'a', from: ada, subject, ...part }));
  return { name, mails };
}

/** A chain in which each mail names all before it, as most programs write it. */
function chain(
  name: string,
  subject: string,
  re: string,
  domain: string,
  length: number,
): Exchange {
  const ids = Array.from({ length }, (_, n) => `${name.replaceAll(' ', '-')}.${n}@${domain}`);
  return exchange(
    name,
    subject,
    ...ids.map((id, n): Part => {
      if (n === 0) return { id };
      const before = ids.slice(0, n);
      const from = n % 2 === 0 ? ada : bo;
      return {
        id,
        from,
        subject: `${re}${subject}`,
        references: before,
        inReplyTo: ids[n - 1] ?? '',
      };
    }),
  );
}

const gmail = 'mail.gmail.example';
const outlook = 'prod.outlook.example';
const apple = 'apple.example';

export const corpus: readonly Exchange[] = [
  chain('gmail reply', 'Dinner on Friday', 'Re: ', gmail, 2),
  chain('gmail long chain', 'Moving house', 'Re: ', gmail, 6),
  chain('gmail in German', 'Rechnung 17', 'Re: ', gmail, 3),
  chain('outlook reply', 'Quarterly numbers', 'RE: ', outlook, 2),
  chain('outlook in German', 'Angebot', 'AW: ', outlook, 3),
  chain('outlook in Swedish', 'Mötet', 'SV: ', outlook, 3),
  chain('outlook in Polish', 'Umowa', 'ODP: ', outlook, 3),
  chain('apple reply', 'Photos', 'Re: ', apple, 3),
  chain('apple in French', 'Vacances', 'RE : ', apple, 3),
  chain('thunderbird', 'Patch review', 'Re: ', 'tb.example', 4),
  chain('chinese', '会议', '回复：', 'qq.example', 3),
  exchange(
    'gmail side branches',
    'Picnic',
    { id: 'g1@gb' },
    { id: 'g2@gb', from: bo, subject: 'Re: Picnic', references: ['g1@gb'] },
    { id: 'g3@gb', from: cy, subject: 'Re: Picnic', references: ['g1@gb'] },
    { id: 'g4@gb', from: bo, subject: 'Re: Picnic', references: ['g1@gb', 'g3@gb'] },
  ),
  exchange(
    'a branch without its root',
    'Re: Yesterday',
    { id: 'b1@br', references: ['lost@br'] },
    { id: 'b2@br', from: bo, references: ['lost@br'] },
  ),
  exchange(
    'outlook with In-Reply-To alone',
    'Contract',
    { id: 'o1@oi' },
    { id: 'o2@oi', from: bo, subject: 'RE: Contract', inReplyTo: 'o1@oi' },
    { id: 'o3@oi', subject: 'RE: Contract', inReplyTo: 'o2@oi' },
  ),
  exchange(
    'outlook without any, two people',
    'Delivery note 5',
    { id: 'n1@on' },
    { id: 'n2@on', subject: 'RE: Delivery note 5' },
  ),
  exchange(
    'exchange server without any, three people',
    'Roadmap 2026',
    { id: 'n1@ex', to: both },
    { id: 'n2@ex', from: bo, to: `ada@example.com, ${inbox}`, subject: 'RE: Roadmap 2026' },
    { id: 'n3@ex', to: 'bo@example.org', cc: inbox, subject: 'AW: RE: Roadmap 2026' },
  ),
  exchange(
    'a web form that answers without any',
    'Ticket 991',
    { id: 'w1@wf' },
    { id: 'w2@wf', subject: 'Re: [svc-help] Ticket 991' },
  ),
  exchange(
    'the middle mail lost its References',
    'Lamp',
    { id: 'm1@ml' },
    { id: 'm2@ml', subject: 'Re: Lamp' },
    { id: 'm3@ml', from: bo, subject: 'Re: Lamp', references: ['m2@ml'] },
  ),
  exchange(
    'references of other people, subject of the same',
    'Chairs',
    { id: 'r1@rc' },
    { id: 'r2@rc', from: bo, subject: 'Re: Chairs', references: ['r1@rc'] },
    { id: 'r3@rc', subject: 'Re: Chairs' },
  ),
  exchange(
    'a subject that others use too',
    'Hello',
    { id: 'h1@hs', tree: 'a' },
    { id: 'h2@hs', tree: 'b', from: bo },
    { id: 'h3@hs', tree: 'c', from: cy },
    { id: 'h4@hs', tree: 'b', from: bo, subject: 'Re: Hello', references: ['h2@hs'] },
  ),
  exchange(
    'a subject reused among more people',
    'Lunch',
    { id: 'l1@rs', tree: 'a' },
    { id: 'l2@rs', tree: 'b', to: both },
    { id: 'l3@rs', tree: 'a', subject: 'Re: Lunch', references: ['l1@rs'] },
    { id: 'l4@rs', tree: 'b', from: bo, subject: 'Re: Lunch', references: ['l2@rs'] },
  ),
  exchange(
    'an old mail answered with another subject',
    'Old matter',
    { id: 's1@sc' },
    { id: 's2@sc', subject: 'A new matter', references: ['s1@sc'], inReplyTo: 's1@sc' },
  ),
  exchange(
    'no subject at all',
    '',
    { id: 'e1@ns', tree: 'a' },
    { id: 'e2@ns', tree: 'b' },
    { id: 'e3@ns', tree: 'a', references: ['e1@ns'] },
  ),
  exchange(
    'nothing but Re:',
    'Re:',
    { id: 'p1@or', tree: 'a' },
    { id: 'p2@or', tree: 'b', subject: 'RE: ' },
  ),
  exchange(
    'forward with References',
    'Terms',
    { id: 'f1@fw' },
    { id: 'f2@fw', subject: 'Fwd: Terms', references: ['f1@fw'] },
  ),
  exchange(
    'forward without, to other people',
    'Budget',
    { id: 'f1@fo', tree: 'a' },
    { id: 'f2@fo', tree: 'b', from: cy, subject: 'WG: Budget' },
  ),
  exchange(
    'forward of a thread that is not here, answered',
    'Fwd: Elsewhere',
    { id: 'f1@fe', references: ['x1@fe', 'x2@fe'] },
    { id: 'f2@fe', from: bo, subject: 'Re: Fwd: Elsewhere', references: ['x1@fe', 'f1@fe'] },
  ),
  exchange(
    'list mail with the name of the list',
    '[svc-users] Release 2',
    { id: 'l1@lm', to: 'svc-users@lists.example', headers: ['List-Id: <svc-users.lists.example>'] },
    {
      id: 'l2@lm',
      from: bo,
      to: 'svc-users@lists.example',
      subject: 'Re: [svc-users] Release 2',
      references: ['l1@lm'],
      headers: ['List-Id: <svc-users.lists.example>'],
    },
  ),
  exchange(
    'two topics of one list',
    '[svc-users] Help',
    { id: 'l1@lt', tree: 'a', to: 'svc-users@lists.example' },
    { id: 'l2@lt', tree: 'b', to: 'svc-users@lists.example', from: bo },
  ),
  exchange(
    'list digest answered',
    'svc-users Digest, Vol 12',
    { id: 'd1@ld', to: 'svc-users@lists.example' },
    { id: 'd2@ld', subject: 'Re: Release 3', from: bo, inReplyTo: 'd1@ld' },
  ),
  exchange(
    'github: all name one id that is no mail',
    'Re: [svc] Fails to start (#7)',
    { id: 'c1@gh', references: ['svc/issues/7@gh'] },
    { id: 'c2@gh', from: bo, references: ['svc/issues/7@gh'] },
    { id: 'c3@gh', from: cy, references: ['svc/issues/7@gh'] },
  ),
  exchange(
    'github: two issues of one name',
    'Re: [svc] Flaky (#8)',
    { id: 'c1@gi', tree: 'a', references: ['svc/issues/8@gi'] },
    {
      id: 'c2@gi',
      tree: 'b',
      from: bo,
      subject: 'Re: [svc] Flaky (#9)',
      references: ['svc/issues/9@gi'],
    },
  ),
  exchange(
    'the reply before its parent',
    'Later',
    { id: 'v2@rp', from: bo, subject: 'Re: Later', references: ['v1@rp'] },
    { id: 'v1@rp' },
  ),
  exchange(
    'the middle of a chain comes last',
    'Bridge',
    { id: 'k1@mc' },
    { id: 'k3@mc', from: bo, subject: 'Re: Bridge', inReplyTo: 'k2@mc' },
    { id: 'k2@mc', from: cy, subject: 'Re: Bridge', inReplyTo: 'k1@mc' },
  ),
  exchange(
    'the same mail twice',
    'Twice',
    { id: 't1@tw' },
    { id: 't1@tw', text: 'Hello, once more' },
  ),
  exchange(
    'out of office',
    'Trip',
    { id: 'a1@oo' },
    {
      id: 'a2@oo',
      from: bo,
      subject: 'Automatic reply: Trip',
      inReplyTo: 'a1@oo',
      headers: ['Auto-Submitted: auto-replied'],
    },
  ),
  exchange(
    'a bounce of our own mail',
    'Undelivered Mail Returned to Sender',
    { id: 'z1@bo', from: 'MAILER-DAEMON@mx.example', references: ['sent@bo'] },
    { id: 'z2@bo', from: bo, subject: 'Re: Party', references: ['sent@bo'] },
  ),
  exchange(
    'a reply that names itself',
    'Loop',
    { id: 'q1@li', references: ['q1@li'], inReplyTo: 'q1@li' },
    { id: 'q2@li', from: bo, subject: 'Re: Loop', references: ['q1@li', 'q2@li'] },
  ),
  exchange(
    'two mails that name each other',
    'Circle',
    { id: 'u1@tc', references: ['u2@tc'] },
    { id: 'u2@tc', from: bo, references: ['u1@tc'] },
  ),
  exchange(
    'two threads that one mail joins',
    'Left side',
    { id: 'j1@jt', cc: 'bo@example.org' },
    { id: 'j2@jt', from: bo, subject: 'Right side' },
    { id: 'j3@jt', from: cy, subject: 'Both sides', references: ['j1@jt', 'j2@jt'] },
  ),
];
