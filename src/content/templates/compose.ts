// Composes the content of a mail from a template: finds the brand and fills the template. Sends and previews
// call the same function, so that a preview has the bytes of the mail.
import type { App } from '../../core/app.ts';
import { domainOf } from '../../platform/net/address.ts';
import { brandValuesOf, findBrandForTemplate } from '../brands/values.ts';
import { lintContent } from '../rendering/compile.ts';
import type {
  CompiledTemplate,
  Filled,
  FillValues,
  TemplateWarning,
} from '../rendering/compiled.ts';
import { fillTemplate } from '../rendering/fill.ts';
import { recipientUrl } from '../rendering/recipient-url.ts';

/** A compiled template. Equal keys have equal texts, so that its parsed form may be kept by its key. */
export interface KeyedTemplate {
  key: string;
  compiled: CompiledTemplate;
}

/**
 * Composes a mail with the brand of the template. `dataField` is the field of the data, for errors.
 * @throws ValidationError for data that the template does not accept
 */
export async function composeFromTemplate(
  app: App,
  organizationId: string,
  template: KeyedTemplate,
  values: Omit<FillValues, 'brand'>,
  dataField: string,
): Promise<Filled> {
  const { brand: slug } = template.compiled;
  const row = await findBrandForTemplate(app.store.db, organizationId, slug);
  const brand = row && brandValuesOf(row);
  const filled = await fillTemplate(
    app,
    organizationId,
    template,
    { ...values, brand },
    { dataField },
  );
  if (row !== null || slug === null) return filled;
  return { ...filled, warnings: [...filled.warnings, missingBrand(slug)] };
}

/** Returns advice about the HTML of a mail from the address `sender`. */
export function adviceOn(
  app: App,
  organizationId: string,
  html: string,
  { sender, hasGroup }: { sender: string; hasGroup: boolean },
): Promise<TemplateWarning[]> {
  const unsubscribeUrl = hasGroup ? recipientUrl(app) : null;
  const facts = { senderDomain: domainOf(sender), hasGroup, unsubscribeUrl };
  return lintContent(app, organizationId, html, facts);
}

function missingBrand(slug: string): TemplateWarning {
  const message = `there is no brand ${slug}: its values are empty`;
  return { code: 'brand-missing', message, path: 'template.yaml', line: null };
}
