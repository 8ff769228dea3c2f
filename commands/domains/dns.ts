// `svc domains dns` prints the DNS records that a domain needs. In src/identity/domains,
// dns-records.ts defines the records, and check-records.ts looks them up.
import { Flags } from '@oclif/core';
import {
  type DnsForm,
  dnsForms,
  dnsText,
  type FormOptions,
  rowsOf,
} from '../../src/identity/domains/dns-forms.ts';
import type { DnsRecord } from '../../src/identity/domains/schema.ts';
import { BaseCommand } from '../base/command.ts';
import { dnsRecordCard, localhostWarning, uncheckedNote } from '../base/input/fields.ts';
import { domainArg, domainId } from '../base/nouns/domain-id.ts';
import { print, tableText, writeLine, writeWarning } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

export default class DomainsDns extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Show the DNS records of a domain, as last checked';

  static override description =
    'With --format the records are text for another program: the file of a zone, the answer of ' +
    'dig, a list in JSON, resources of Terraform for Route 53 and Cloudflare, or the import file ' +
    'of Cloudflare. With --relative their names are relative to the domain.';

  static override examples = [
    { description: 'Show the records to publish', command: 'svc domains dns example.com' },
    {
      description: 'Show the records that are still missing',
      command: `svc domains dns example.com --json | jq '.items[] | select(.status != "valid")'`,
    },
  ];

  static override args = domainArg;

  static override flags = {
    format: Flags.string({
      description: `Form of the records: ${dnsForms.join(', ')}`,
      options: [...dnsForms],
    }),
    relative: Flags.boolean({
      description: 'Write names relative to the domain',
      dependsOn: ['format'],
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DomainsDns);
    await withSession(flags, async (session) => {
      const { domainRoutes } = await import('../../src/identity/domains/routes.ts');
      const id = await domainId(session, args.domain);
      const records = await session.ask(domainRoutes.listDns, { params: { id } });
      if (flags.format !== undefined && !flags.json) {
        const { domain } = await session.ask(domainRoutes.get, { params: { id } });
        const options = { domain, isRelative: flags.relative === true };
        writeLine(await textOf(flags.format as DnsForm, records.items, options));
      } else {
        await print(flags, records, async () => {
          if (records.items.length === 0) return 'This domain needs no DNS records.';
          const { cards } = await import('../base/output/format.ts');
          const note = uncheckedNote(records.items, args.domain);
          return `${cards(records.items, dnsRecordCard)}${note}`;
        });
      }
      const warning = localhostWarning(records.items);
      if (warning !== null) writeWarning(warning);
    });
  }
}

function textOf(
  form: DnsForm,
  records: readonly DnsRecord[],
  options: FormOptions,
): string | Promise<string> {
  if (form !== 'table') return dnsText(form, records, options);
  return tableText({}, rowsOf(records, options), ['type', 'name', 'value', 'required', 'status']);
}
