// The rules for Prometheus: they ask for metrics and labels that the daemon has, and the page for
// users names each alert. promtool judges them where it is installed.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { createMetrics } from '../../src/platform/runtime/metrics.ts';
import { isInstalled } from '../docs/is-installed.ts';
import { codeSpans, readMarkdown, section, tableRows } from '../docs/markdown.ts';
import { repository } from '../support/cli.ts';

const file = join(repository, 'examples/prometheus/svc.rules.yaml');

interface Rule {
  alert: string;
  expr: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

const { groups } = parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

it('each rule asks for metrics and labels of the daemon', async () => {
  const metrics = await createMetrics().registry.getMetricsAsArray();
  const known = new Map(
    metrics.map((metric) => {
      const { name, labelNames = [] } = metric as { name: string; labelNames?: string[] };
      return [name, labelNames];
    }),
  );
  const faults = rules.flatMap(({ alert, expr }) =>
    [...expr.matchAll(/\b(svc_\w+?)(?:_sum|_count)?\{([^}]*)\}/g)].flatMap(
      ([, name = '', labels]) => {
        const names = known.get(name);
        if (!names) return [`${alert}: ${name}`];
        const used = [...(labels ?? '').matchAll(/(\w+)=/g)].map(([, label = '']) => label);
        const unknown = used.filter((label) => !['job', ...names].includes(label));
        return unknown.map((label) => `${alert}: ${name}{${label}}`);
      },
    ),
  );
  expect(faults).toEqual([]);
  expect(rules.length).toBeGreaterThan(10);
});

it('each rule has a severity, a summary and an action, and a row in docs/server.md', () => {
  for (const { labels, annotations } of rules) {
    expect(['page', 'ticket']).toContain(labels.severity);
    expect(Object.keys(annotations)).toEqual(['summary', 'action']);
  }
  const rows = tableRows(section(readMarkdown('docs/server.md'), 'Alerts'));
  const named = rows.flatMap(([alerts = '']) => codeSpans([alerts]));
  expect(named.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});

it.skipIf(!isInstalled('promtool', ['--version']))('promtool takes the rules', () => {
  expect(execFileSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })).toContain(
    'SUCCESS',
  );
});
