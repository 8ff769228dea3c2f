// Compiles the files of a template with the CSS of the brand.
import type { App } from '../../core/app.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import type { BrandRow } from '../brands/queries.ts';
import { cssDigestOf, findBrandForTemplate } from '../brands/values.ts';
import { compileTemplate } from '../rendering/compile.ts';
import type { Compilation, TemplateFiles } from '../rendering/compiled.ts';

export interface CompiledFiles extends Compilation {
  /** Slug of the brand whose CSS is in the HTML; null without a brand. */
  brandSlug: string | null;
  /** Digest of the CSS of that brand; of an empty text without a brand. */
  cssDigest: string;
}

const brandLine = /^brand:[ \t]*["']?([a-z0-9-]+)["']?[ \t]*(?:#.*)?$/m;

/**
 * Guesses the brand in `template.yaml` by a pattern: parsing YAML would block the event loop. The
 * worker parses the file. After a wrong guess the template is compiled a second time.
 */
function guessedBrand(files: TemplateFiles): string | null {
  return brandLine.exec(files['template.yaml'] ?? '')?.[1] ?? null;
}

/**
 * Compiles files. `brand` overrides the brand in `template.yaml`.
 * @throws ValidationError with fields `files.<path>`; ResourceNotFoundError for an unknown `brand`;
 * CapacityError
 */
export async function compileFiles(
  app: App,
  organizationId: string,
  files: TemplateFiles,
  brand?: string,
): Promise<CompiledFiles> {
  const find = (slug: string | null) => findBrandForTemplate(app.store.db, organizationId, slug);
  const compile = async (row: BrandRow | null) => ({
    row,
    ...(await compileTemplate(app, organizationId, { files, brandCss: row?.css ?? '' })),
  });
  const guess = brand ?? guessedBrand(files);
  const first = await find(guess);
  if (brand !== undefined && first === null) throw new ResourceNotFoundError('brand', brand);
  let done = await compile(first);
  const named = brand ?? done.compiled.brand;
  if (named !== guess) done = await compile(await find(named));
  const { row, compiled, warnings } = done;
  return {
    compiled: { ...compiled, brand: named },
    warnings,
    brandSlug: row?.slug ?? null,
    cssDigest: cssDigestOf({ css: row?.css ?? null }),
  };
}
