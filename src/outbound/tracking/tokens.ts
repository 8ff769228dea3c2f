// Tokens of opens and clicks: `<delivery>_<link>-<tag>`. The pixel is link 0, the links of the
// content count from 1. Each tag signs a single link of a single delivery, so known tokens reveal
// no further token.
import type { App } from '../../core/app.ts';
import { shortTagCharacters, tagsPerDigest } from '../../core/root-keys/root-key.ts';
import { exactly } from '../../core/root-keys/token-text.ts';
import { timeOfId } from '../../platform/runtime/ids.ts';

const purpose = 'tracking';
const idPrefix = 'dlv_';
const form = /^([0-9a-hjkmnp-tv-z]{24})_(0|[1-9]\d{0,3})-([0-9a-hjkmnp-tv-z]{16})$/i;

/** The link number of the pixel. */
export const pixel = 0;

export interface TrackedLink {
  deliveryId: string;
  link: number;
}

function payloadOf(id: string, link: number): string {
  return `${id}_${Math.floor(link / tagsPerDigest)}`;
}

/**
 * Creates the tokens of a delivery by link number. Rising numbers are cheapest, because a single
 * digest signs six links.
 */
export function tokensOf(app: App, deliveryId: string): (link: number) => string {
  const id = deliveryId.slice(idPrefix.length);
  const madeAt = timeOfId(deliveryId);
  let signed = '';
  let tags: readonly string[] = [];
  return (link) => {
    const payload = payloadOf(id, link);
    if (payload !== signed) {
      tags = app.secrets.sixTags(purpose, payload, madeAt);
      signed = payload;
    }
    return `${id}_${link}-${tags[link % tagsPerDigest]}`;
  };
}

/** Reads a token in either case of letters. Null for a foreign token. */
export function readToken(app: App, token: string): TrackedLink | null {
  const [, id = '', digits = '', tag = ''] = form.exec(token) ?? [];
  if (tag.length !== shortTagCharacters) return null;
  const link = Number(digits);
  const payload = payloadOf(id.toLowerCase(), link);
  const deliveryId = idPrefix + id.toLowerCase();
  const time = exactly(timeOfId(deliveryId));
  const isOurs = app.secrets.isTag(purpose, payload, { place: link % tagsPerDigest, tag, time });
  return isOurs ? { deliveryId, link } : null;
}
