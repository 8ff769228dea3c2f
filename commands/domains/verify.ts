// `svc domains verify`. src/identity/domains/domains.ts has keys and records; verification.ts in
// that folder looks the records up.
import { Flags } from '@oclif/core';
import type { App } from '../../src/core/app.ts';
import type { Domain } from '../../src/identity/domains/schema.ts';
import { sleep, systemClock } from '../../src/platform/runtime/clock.ts';
import type { Session } from '../base/asking.ts';
import { BaseCommand } from '../base/command.ts';
import { dnsRecordCard, domainCard } from '../base/input/fields.ts';
import { timeoutFlag, timeoutFrom } from '../base/input/timeout.ts';
import { keptAlive } from '../base/keep-alive.ts';
import { domainArg, domainId } from '../base/nouns/domain-id.ts';
import { ExpectationError } from '../base/output/failure.ts';
import { print, writeNote, writeWarning } from '../base/output/output.ts';
import { storeOf, withSession } from '../base/route.ts';

/** Default value of --timeout. */
const watchedFor = '30m';

export default class DomainsVerify extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Check the DNS records of a domain now';

  static override description =
    'Ends with exit code 8 unless the domain is verified afterwards. --force verifies it ' +
    'without a check, which only the operator of this machine may do: mail will be ' +
    'signed, but receivers will not find the key.';

  static override examples = [
    {
      description: 'Check the records after publishing them',
      command: 'svc domains verify example.com',
    },
    {
      description: 'Wait until the records are found',
      command: 'svc domains verify example.com --watch --timeout 1h',
    },
    {
      description: 'Verify a domain without DNS, for tests',
      command: 'svc domains verify dom_06dq2k0qz8h3v5m1r9t4w7xy --force',
    },
  ];

  static override args = domainArg;

  static override flags = {
    force: Flags.boolean({ description: 'Verify the domain without checking DNS' }),
    watch: Flags.boolean({
      description: 'Check again every 5 seconds until the domain is verified',
      exclusive: ['force'],
    }),
    timeout: timeoutFlag(watchedFor, ['watch']),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DomainsVerify);
    const timeoutMs = timeoutFrom(flags.timeout ?? watchedFor) ?? Number.POSITIVE_INFINITY;
    await withSession(flags, async (session) => {
      const id = await domainId(session, args.domain);
      const check = () => verified(session, id, flags.force);
      const domain = flags.watch ? await watched(check, timeoutMs) : await check();
      const lacking = domain.dnsRecords.filter(({ status }) => status !== 'valid');
      const improvable = domain.dnsRecords.filter(
        ({ status, diagnosis }) => status === 'valid' && diagnosis !== null,
      );
      await print(flags, domain, async () => {
        const { card, cards } = await import('../base/output/format.ts');
        const shown = card(domain, domainCard);
        const section = (head: string, records: typeof lacking) =>
          flags.force || records.length === 0 ? [] : [head, cards(records, dnsRecordCard)];
        return [
          shown,
          ...section('These records are missing or wrong:', lacking),
          ...section('These records are valid, but have a problem:', improvable),
        ].join('\n\n');
      });
      if (session.local) await warnOfReturnPath(session.local.app);
      if (domain.status === 'verified') return;
      throw new ExpectationError(`${domain.domain} is ${domain.status}, not verified`);
    });
  }
}

async function warnOfReturnPath({ config }: App): Promise<void> {
  const { returnPathDoubt } = await import('../../src/core/config/problems.ts');
  const doubt = returnPathDoubt(config);
  if (doubt !== null) writeWarning(doubt);
}

/** Time between two checks. */
const pauseMs = 5_000;

/**
 * Checks a domain until it is verified or the time is over. Reports changed records on standard
 * error. Returns the domain after the last check.
 */
function watched(check: () => Promise<Domain>, timeoutMs: number): Promise<Domain> {
  const clock = systemClock;
  const endsAt = clock.elapsed() + timeoutMs;
  const known = new Map<string, string>();
  return keptAlive(async () => {
    for (;;) {
      const domain = await check();
      for (const { type, name, status } of domain.dnsRecords) {
        const record = `${type} ${name}`;
        if (known.get(record) !== status) writeNote(`${status.padEnd(7)}  ${record}`);
        known.set(record, status);
      }
      const left = endsAt - clock.elapsed();
      if (domain.status === 'verified' || left <= 0) return domain;
      await sleep(clock, Math.min(pauseMs, left));
    }
  });
}

/** Checks the domain through the API; with `force`, verifies it in the local store. */
async function verified(session: Session, id: string, force: boolean): Promise<Domain> {
  if (force) {
    const { verifyDomain } = await import('../../src/identity/domains/verification.ts');
    const { app, caller } = await storeOf(session, '--force');
    return verifyDomain(app, caller, id, { force });
  }
  const { verify } = (await import('../../src/identity/domains/routes.ts')).domainRoutes;
  return session.ask(verify, { params: { id } });
}
