// The third part of the editor: reasons for which a run is refused, advice, and passed checks.
import type { Estimate } from '../../../../src/campaigns/setup/run-schema.ts';
import type { Campaign } from '../../../../src/campaigns/setup/schema.ts';
import { counted } from '../../parts/times.ts';

export interface Check {
  tone: 'good' | 'warn' | 'bad';
  sentence: string;
  more: string;
}

type Warning = Campaign['warnings'][number];

/** Codes of warnings for which a run is refused. */
const refusing = new Set(['no-unsubscribe-group', 'no-mail']);

function warningOf({ code, message }: Warning): Check {
  if (code === 'another-run') {
    return {
      tone: 'warn',
      sentence: 'Another run of this campaign is under way.',
      more: 'A new run reaches its people again, unless people of earlier runs are left out.',
    };
  }
  const sentence = message.slice(0, 1).toUpperCase() + message.slice(1);
  return { tone: refusing.has(code) ? 'bad' : 'warn', sentence, more: '' };
}

/** Returns the http and https targets of the links in HTML. */
export function linksOf(source: string | null): string[] {
  const tags = (source ?? '').match(/<a\s[^<>]*/gi) ?? [];
  const targets = tags.map((tag) => /\shref\s*=\s*["']([^"']+)["']/i.exec(tag)?.[1] ?? '');
  return targets.filter((target) => /^https?:/i.test(target));
}

/** Bytes of HTML beyond which Gmail cuts a mail. */
const cutAt = 102 * 1024;

function sizeOf({ html, text }: NonNullable<Estimate['mail']>): Check {
  const bytes = Buffer.byteLength(html ?? text ?? '');
  const size = `${counted(Math.max(1, Math.round(bytes / 1024)))} KB.`;
  if (bytes <= cutAt) return { tone: 'good', sentence: size, more: 'Gmail cuts mail at 102 KB.' };
  return {
    tone: 'warn',
    sentence: `${size} Gmail cuts mail at 102 KB.`,
    more: 'Its end is hidden behind a link there.',
  };
}

function linkCheck(links: readonly string[]): Check {
  const plain = links.filter((target) => /^http:/i.test(target));
  const many = `${counted(links.length)} ${links.length === 1 ? 'link' : 'links'}`;
  if (links.length === 0) return { tone: 'good', sentence: 'No links.', more: '' };
  if (plain.length === 0) return { tone: 'good', sentence: `${many}, all with https.`, more: '' };
  return {
    tone: 'warn',
    sentence: `${many}, ${counted(plain.length)} without https.`,
    more: `Such as ${plain[0]}.`,
  };
}

interface Checked {
  campaign: Pick<Campaign, 'warnings' | 'transactional'>;
  estimate: Pick<Estimate, 'warnings' | 'mail'>;
  /** Name of the list that people can leave; null without a list. */
  list: string | null;
}

/** Tells whether a run would be refused. */
export function isRefused({ campaign, estimate }: Omit<Checked, 'list'>): boolean {
  const all = [...campaign.warnings, ...estimate.warnings];
  return estimate.mail === null || all.some(({ code }) => refusing.has(code));
}

/** Returns the checks of a campaign. Reasons for which a run is refused come first. */
export function checksOf({ campaign, estimate, list }: Checked): Check[] {
  const { mail } = estimate;
  const all = [...campaign.warnings, ...estimate.warnings];
  const unique = [...new Map(all.map((one) => [`${one.code} ${one.message}`, one])).values()];
  const warnings = unique.map(warningOf);
  const bad = warnings.filter(({ tone }) => tone === 'bad');
  const advice = warnings.filter(({ tone }) => tone !== 'bad');
  if (!mail) return [...bad, ...advice];
  const leave: Check[] =
    list === null
      ? campaign.transactional
        ? [
            {
              tone: 'good',
              sentence: 'Nobody can leave it.',
              more: 'It is mail that everybody must get.',
            },
          ]
        : []
      : [
          {
            tone: 'good',
            sentence: `People can leave “${list}” with one click.`,
            more: 'Beside the sender in mail programs, and by a link.',
          },
        ];
  const fine: Check[] =
    bad.length > 0
      ? []
      : [
          {
            tone: 'good',
            sentence: 'Nothing refuses it.',
            more: 'The sender may send, and the mail can be made.',
          },
        ];
  return [...bad, ...advice, ...fine, linkCheck(linksOf(mail.html)), ...leave, sizeOf(mail)];
}
