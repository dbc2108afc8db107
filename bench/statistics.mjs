/** The quantile `share` of the values, interpolated between neighbours. */
export function quantile(values, share) {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)];
  return low + (sorted[Math.ceil(at)] - low) * (at - Math.floor(at));
}

export const median = (values) => quantile(values, 0.5);

/** The span of the middle half of the rounds, relative to their median. */
export function spread(values) {
  return (quantile(values, 0.75) - quantile(values, 0.25)) / median(values);
}
