// Semantic versions (SemVer 2.0.0): their form, their order, and the version that is installed
// without a choice.
import semver from 'semver';

/** A version, as far as the order needs it; ids ascend in the order of publication. */
export interface Ordered {
  id: string;
  /** Without build metadata. */
  precedence: string;
}

/**
 * Returns the version without the build metadata, which does not count in the order; null unless
 * `text` is a version exactly in the form of SemVer 2.0.0.
 */
export function precedenceOf(text: string): string | null {
  const parsed = semver.parse(text);
  if (!parsed) return null;
  const build = parsed.build.length > 0 ? `+${parsed.build.join('.')}` : '';
  return parsed.version + build === text ? parsed.version : null;
}

/** Returns the highest release, or else the last published prerelease; null for an empty list. */
export function latestOf<Version extends Ordered>(versions: readonly Version[]): Version | null {
  const releases = versions.filter(({ precedence }) => semver.prerelease(precedence) === null);
  const [highest] = releases.sort((a, b) => semver.rcompare(a.precedence, b.precedence));
  if (highest) return highest;
  const [last] = versions.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  return last ?? null;
}
