// Composes the content of a mail from a template and a brand. Sends and previews call the same
// function, so that a preview has the bytes of the mail.
import type { App } from '../../core/app.ts';
import { domainOf } from '../../platform/net/address.ts';
import type { BrandRow } from '../brands/queries.ts';
import { brandValuesOf } from '../brands/values.ts';
import { lintContent } from '../rendering/compile.ts';
import type {
  CompiledTemplate,
  Filled,
  FillValues,
  TemplateWarning,
} from '../rendering/compiled.ts';
import { fillTemplate } from '../rendering/fill.ts';
import { recipientUrl } from '../rendering/recipient-url.ts';

/**
 * A compiled template. Equal keys have equal texts, so the parsed form can be cached by the key.
 */
export interface KeyedTemplate {
  key: string;
  compiled: CompiledTemplate;
}

/**
 * Composes a mail. `brandRow` is the brand of the template, as `findBrandForTemplate` found it.
 * `dataField` is the field of the data, for errors.
 * @throws ValidationError for data that the template does not accept
 */
export async function composeFromTemplate(
  app: App,
  organizationId: string,
  template: KeyedTemplate,
  brandRow: BrandRow | null,
  values: Omit<FillValues, 'brand'>,
  dataField: string,
): Promise<Filled> {
  const { brand: slug } = template.compiled;
  const brand = brandRow && brandValuesOf(brandRow);
  const filled = await fillTemplate(
    app,
    organizationId,
    template,
    { ...values, brand },
    { dataField },
  );
  if (brand !== null || slug === null) return filled;
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
