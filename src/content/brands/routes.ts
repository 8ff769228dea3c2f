// The HTTP operations on brands (specification 4.6). The slug addresses a brand.
import { z } from 'zod';
import { area } from '../../core/api/area.ts';
import { pageOf } from '../../core/api/pagination.ts';
import { deleted } from '../../core/api/resource-schema.ts';
import { ConflictError } from '../../platform/errors.ts';
import {
  createBrand,
  deleteBrand,
  getBrand,
  listBrands,
  makeBrandDefault,
  updateBrand,
} from './brands.ts';
import {
  brandNoun,
  brandOutput,
  brandSlug,
  createBrandInput,
  listBrandsQuery,
  updateBrandInput,
} from './schema.ts';

const at = area('brands', { about: 'Looks of mail: CSS, logos and footers', noun: brandNoun });
const path = '/v1/brands';
const params = z.strictObject({ slug: brandSlug.describe('Slug of the brand') });

export const brandRoutes = {
  list: at.get(path, {
    name: 'listBrands',
    summary: 'List brands, newest first',
    query: listBrandsQuery,
    output: pageOf(brandOutput),
    run: (app, { caller, query }) => listBrands(app, caller, query),
  }),
  create: at.post(path, {
    name: 'createBrand',
    summary: 'Create a brand',
    description: 'The first brand of an organization is its default.',
    body: createBrandInput,
    output: brandOutput,
    throws: [ConflictError],
    run: (app, { caller, body }) => createBrand(app, caller, body),
  }),
  get: at.get(`${path}/{slug}`, {
    name: 'getBrand',
    summary: 'Show a brand',
    params,
    output: brandOutput,
    run: (app, { caller, params: { slug } }) => getBrand(app, caller, slug),
  }),
  update: at.patch(`${path}/{slug}`, {
    name: 'updateBrand',
    summary: 'Change a brand',
    description:
      'Fields that are not given stay as they are, in `assets`, `footer` and its `address` too. ' +
      'New CSS takes effect when a template is published again; all else at the next send.',
    params,
    body: updateBrandInput,
    output: brandOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { slug }, body }) => updateBrand(app, caller, slug, body),
  }),
  makeDefault: at.post(`${path}/{slug}/default`, {
    name: 'makeBrandDefault',
    summary: 'Make a brand the default',
    description:
      'The default brand is the look of templates that name none, and of the unsubscribe page.',
    params,
    output: brandOutput,
    run: (app, { caller, params: { slug } }) => makeBrandDefault(app, caller, slug),
  }),
  delete: at.delete(`${path}/{slug}`, {
    name: 'deleteBrand',
    summary: 'Delete a brand',
    description: 'No other brand becomes the default. Templates that name it have no brand then.',
    params,
    output: deleted,
    run: (app, { caller, params: { slug } }) => deleteBrand(app, caller, slug),
  }),
};
