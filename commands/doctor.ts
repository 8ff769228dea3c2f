// `svc doctor`. src/doctor/ has the checks.
import { Flags } from '@oclif/core';
import type { App } from '../src/core/app.ts';
import type { Finding } from '../src/doctor/finding.ts';
import { BaseCommand } from './base/command.ts';
import { keptAlive } from './base/keep-alive.ts';
import { ExpectationError, UsageError } from './base/output/failure.ts';
import { print, writeNote } from './base/output/output.ts';
import { withApp } from './base/session.ts';

const signs = { ok: '✓', warn: '!', fail: '✗', skipped: '-' } as const;

async function findingsText(findings: readonly Finding[]): Promise<string> {
  const { plainText } = await import('./base/output/format.ts');
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings
    .flatMap(({ check, status, found, remedy, command }) => {
      const indent = ' '.repeat(width + 4);
      const head = `${signs[status]} ${check.padEnd(width)}  ${plainText(found)}`;
      const steps = status === 'ok' ? [] : [remedy, command && `$ ${command}`];
      return [
        head,
        ...steps.filter((step) => step !== null).map((step) => indent + plainText(step)),
      ];
    })
    .join('\n');
}

export default class Doctor extends BaseCommand {
  static override summary = 'Check this machine, its network and its domains';

  static override description =
    'Each check is ok, warn, fail or skipped, with the next step. Ends with exit code 8 if one fails. ' +
    '--mail also asks whether mail can leave: port 25, reverse name, blocklists. The daemon makes the same ' +
    'checks once a day: svc_service_findings in /metrics, and events service.finding.';

  static override examples = [
    { description: 'Check the service', command: 'svc doctor' },
    { description: 'Check that mail can leave, too', command: 'svc doctor --mail' },
    {
      description: 'Keep files to their owner again',
      command: 'svc doctor --only files --fix',
    },
    {
      description: 'Print the failed checks for a program',
      command: 'svc doctor --json | jq \'.findings[] | select(.status == "fail")\'',
    },
  ];

  static override flags = {
    mail: Flags.boolean({ description: 'Check mail to other servers, too' }),
    only: Flags.string({ description: 'Names of checks to make', helpValue: 'CHECK,…' }),
    fix: Flags.boolean({ description: 'Take the rights of others off the files first' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Doctor);
    const { checks, examine } = await import('../src/doctor/examine.ts');
    const only = flags.only?.split(',').map((name) => name.trim());
    const names = checks.map(({ name }) => name);
    const unknown = only?.find((name) => !names.includes(name));
    if (unknown !== undefined) {
      throw new UsageError(
        `--only: there is no check "${unknown}"; the checks are ${names.join(', ')}`,
      );
    }
    const look = async (app: App) => {
      if (flags.fix) {
        const { guardFiles, thisMachine } = await import('../src/doctor/machine.ts');
        for (const line of guardFiles(app, thisMachine)) writeNote(line);
      }
      return keptAlive(() => examine(app, { mail: flags.mail, ...(only && { only }) }));
    };
    const findings = await withApp(flags, look, { readsEarlier: true });
    await print(flags, { findings }, () => findingsText(findings));
    const failed = findings.filter(({ status }) => status === 'fail');
    if (failed.length === 0) return;
    throw new ExpectationError(`failed: ${failed.map(({ check }) => check).join(', ')}`);
  }
}
