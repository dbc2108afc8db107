export default async function teardown() {
  await globalThis.stopPooler?.();
  await globalThis.stopPostgres?.();
}
