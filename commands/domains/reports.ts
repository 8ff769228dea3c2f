// `svc domains reports`. src/outbound/reports/dmarc/dmarc-reports.ts stores and lists the reports.

import type { DmarcReportPage } from '../../src/outbound/reports/dmarc/dmarc-schema.ts';
import { reportRoutes } from '../../src/outbound/reports/routes.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { showCommand } from '../base/verbs.ts';

type Report = DmarcReportPage['items'][number];

const columns = ['day', 'reporter', 'messages', 'passed', 'failing'];
const shownSources = 3;

function percent(passed: number, messages: number): string {
  return messages === 0 ? '-' : `${(Math.floor((passed / messages) * 1000) / 10).toFixed(1)}%`;
}

async function failingSources({ sources }: Report): Promise<string> {
  const { hasPassed } = await import('../../src/mail/parse/dmarc/dmarc-summary.ts');
  const failing = sources.filter((source) => !hasPassed(source));
  const shown = failing.slice(0, shownSources).map(({ ip, count }) => `${ip} (${count})`);
  const more = failing.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

async function reportsText({ items, daily, pagination }: DmarcReportPage): Promise<string> {
  const { table } = await import('../base/output/format.ts');
  const { sparkline } = await import('../base/output/sparkline.ts');
  const messages = daily.reduce((sum, day) => sum + day.messages, 0);
  const passed = daily.reduce((sum, day) => sum + day.passed, 0);
  const busy = daily.filter((day) => day.messages > 0);
  const rates = busy.map((day) => day.passed / day.messages);
  const spark = busy.length > 0 ? `  ${busy[0]?.day} ${sparkline(rates)} ${busy.at(-1)?.day}` : '';
  const head = `${percent(passed, messages)} of ${messages} messages passed${spark}`;
  const rows = await Promise.all(
    items.map(async (report) => ({
      day: report.beginsAt.slice(0, 10),
      reporter: report.reporter,
      messages: report.messages,
      passed: percent(report.passed, report.messages),
      failing: await failingSources(report),
    })),
  );
  const parts = [head, ...(rows.length > 0 ? [table(rows, columns)] : [])];
  const { page, totalPages, total } = pagination;
  if (totalPages > 1) parts.push(`Page ${page} of ${totalPages}, ${total} in all.`);
  return parts.join('\n\n');
}

export default showCommand({
  summary: 'Show DMARC reports of receivers for a domain',
  description:
    'Receivers send these reports once a day to the rua address of the DMARC record; ' +
    '"svc domains dns" shows it. The bars are the rate of mail that passed, by day. The ' +
    'failing addresses sent mail without an aligned DKIM signature or SPF.',
  examples: [
    ['Show the reports of the last 30 days', 'svc domains reports example.com'],
    [
      'Show the addresses that fail in its name',
      'svc domains reports example.com --days 7 --json | jq \'.items[].sources[] | select(.dkim == "fail" and .spf == "fail")\'',
    ],
  ],
  args,
  find,
  route: reportRoutes.listDmarc,
  view: (reports, { days = 30 }) =>
    reports.pagination.total === 0
      ? `No DMARC reports in the last ${days} days. Receivers send them to the rua ` +
        'address of the DMARC record: svc domains dns'
      : reportsText(reports),
});
