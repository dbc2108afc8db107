/** A value in its words: objects as nested lists. */
export function Value({ of }: { readonly of: unknown }) {
  if (of === null || of === undefined) return <span class="small">–</span>;
  if (Array.isArray(of))
    return (
      <ul class="plain">
        {of.map((item: unknown, at) => (
          <li key={at}>
            <Value of={item} />
          </li>
        ))}
      </ul>
    );
  if (typeof of === 'object')
    return (
      <dl class="nested">
        {Object.entries(of).map(([name, value]: [string, unknown]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Value of={value} />
            </dd>
          </div>
        ))}
      </dl>
    );
  return <bdi>{typeof of === 'string' ? of : JSON.stringify(of)}</bdi>;
}
