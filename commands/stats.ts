// `svc stats` (specification 2.16). src/identity/reputation/stats.ts computes the rates.
import { Flags } from '@oclif/core';
import type { Timeseries } from '../src/identity/reputation/schema.ts';
import { BaseCommand, type CommonFlags, tableFlags } from './base/command.ts';
import { given } from './base/input/body.ts';
import { print, printList, type TableChoice, tableText } from './base/output/output.ts';
import { sparkline } from './base/output/sparkline.ts';
import { localTime } from './base/output/table-fit.ts';
import { withSession } from './base/route.ts';

const breakdowns = ['campaign', 'template', 'sender', 'domain'] as const;
const figures = [
  ...['sent', 'deliveryRate', 'bounceRate', 'uniqueMessageOpenRate', 'uniqueMessageClickRate'],
];
const shown = figures.map((field) => `email.${field}`);
const counts = ['emails', 'attempted', 'sent', 'delivered', 'bounced', 'failed', 'complained'];
const nothing = 'No mail was sent in this time.';

export default class Stats extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Show rates of sent mail by day, campaign or recipient domain';

  static override description =
    'Mail counts on the day of its acceptance, whenever its outcome came. Rates are over ' +
    'attempted mail: a waiting message does not count.';

  static override examples = [
    { description: 'Show the last 30 days', command: 'svc stats' },
    {
      description: 'Show a month, day by day',
      command: 'svc stats --start 2026-01-01 --end 2026-01-31 --by day',
    },
    { description: 'Show the rates by recipient domain', command: 'svc stats --by domain' },
    { description: 'Show the rates by campaign', command: 'svc stats --by campaign' },
  ];

  static override flags = {
    by: Flags.string({
      description: 'Rows of the table: day, hour, campaign, template, sender or domain',
    }),
    start: Flags.string({ description: 'First day (YYYY-MM-DD), or an instant' }),
    end: Flags.string({ description: 'Last day (included whole), or an instant' }),
    ...tableFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Stats);
    await withSession(flags, async (session) => {
      const { usageRoutes } = await import('../src/identity/reputation/routes.ts');
      const dates = given({ startDate: flags.start, endDate: flags.end });
      const trait = breakdowns.find((one) => one === flags.by);
      const interval = trait === undefined ? flags.by : undefined;
      const series = { ...dates, ...given({ interval }) };
      const byTime = await session.ask(usageRoutes.timeseries, { query: series });
      if (trait !== undefined) {
        const found = await session.ask(usageRoutes.breakdown, { query: { by: trait, ...dates } });
        const rows = found.items.map(({ key, name, ...rest }) => {
          return { [trait]: name ?? key, ...withPercents(rest) };
        });
        const looks = { rows, note: periodOf(byTime) };
        return printList(flags, found, [trait, ...figures], nothing, looks);
      }
      if (flags.by !== undefined) return printSeries(flags, byTime);
      const stats = await session.ask(usageRoutes.channels, { query: dates });
      await print(flags, stats, async () => {
        const { card } = await import('./base/output/format.ts');
        const line = sparkline(byTime.items.map(({ emails }) => emails));
        const rates = card({ email: withPercents(stats.email) }, shown);
        return `${periodOf(byTime)}\n\n${rates}\n\n${line}  emails by day`;
      });
    });
  }
}

/** Returns the numbers with each rate as a rounded percentage. */
export function withPercents(numbers: Readonly<Record<string, number>>): Record<string, unknown> {
  const shownAs = ([name, value]: [string, number]) =>
    name.endsWith('Rate') ? [name, `${Math.round(value * 1_000) / 10}%`] : [name, value];
  return Object.fromEntries(Object.entries(numbers).map(shownAs));
}

/** Returns the first and the last day or hour, in the time zone of the organization. */
function periodOf({ items, interval, timezone }: Timeseries): string {
  const [from, to] = [items[0], items.at(-1)].map((item) => {
    const start = localTime(item?.start ?? '', timezone);
    return interval === 'day' ? start.slice(0, 'YYYY-MM-DD'.length) : start.slice(0, -':00'.length);
  });
  return `${from === to ? from : `${from} to ${to}`}, ${timezone}`;
}

/** Prints a table below the period and a line of bars. */
function printSeries(flags: CommonFlags & TableChoice, series: Timeseries): Promise<void> {
  return print(flags, series, async () => {
    const line = sparkline(series.items.map(({ emails }) => emails));
    return `${periodOf(series)}\n\n${line}\n\n${await tableText(flags, series.items, ['start', ...counts])}`;
  });
}
