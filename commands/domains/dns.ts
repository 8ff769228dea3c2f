// `svc domains dns`. Keys and records: src/identity/domains/domains.ts; looking them up:
// verification.ts there.
import { BaseCommand } from '../base/command.ts';
import { domainArg, domainId } from '../base/domain-id.ts';
import { dnsRecordCard, localhostWarning, uncheckedNote } from '../base/fields.ts';
import { print, writeWarning } from '../base/output.ts';
import { runRoute } from '../base/route.ts';
import { withCaller } from '../base/session.ts';

export default class DomainsDns extends BaseCommand {
  static override summary = 'Show the DNS records of a domain, as last checked';

  static override examples = [
    { description: 'Show the records to publish', command: 'svc domains dns example.com' },
    {
      description: 'Show the records that are still missing',
      command: `svc domains dns example.com --json | jq '.items[] | select(.status != "valid")'`,
    },
  ];

  static override args = domainArg;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DomainsDns);
    await withCaller(flags, async (app, caller) => {
      const { domainRoutes } = await import('../../src/identity/domains/routes.ts');
      const id = await domainId(app, caller, args.domain);
      const records = await runRoute(app, caller, domainRoutes.listDns, { params: { id } });
      await print(flags, records, async () => {
        if (records.items.length === 0) return 'This domain needs no DNS records.';
        const { cards } = await import('../base/format.ts');
        return `${cards(records.items, dnsRecordCard)}${uncheckedNote(records.items, args.domain)}`;
      });
      const warning = localhostWarning(records.items);
      if (warning !== null) writeWarning(warning);
    });
  }
}
