export async function benchFairness(_: unknown) {}
