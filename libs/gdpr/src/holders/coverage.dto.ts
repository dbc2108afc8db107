import { Flag, Of, OneOf, Slug, Text, Timestamp } from '@app/http';
import { TASK_RESULTS } from './holder-task.entity';
import { BASIS_MAX } from './holder-tasks.dto';
import { LABEL_MAX } from './holders.dto';

export class KeptView {
  @Text(BASIS_MAX) basis: string;
  @Timestamp() until: string;
}

export class CoveredHolderView {
  @Slug() key: string;
  @Text(LABEL_MAX) label_de: string;
  @Text(LABEL_MAX) label_en: string;
  @OneOf(
    [...TASK_RESULTS, 'pending', 'overdue'],
    'pending: no answer within 14 days so far; overdue: no answer since; abandoned: the holder was deleted before it answered',
  )
  result: string;
  @Timestamp({ nullable: true, description: 'Time of the latest answer' }) at: string | null;
  @Of(KeptView, { optional: true }) kept?: KeptView;
}

export class CoverageView {
  @Flag('Every holder has answered erased, nothing or kept') complete: boolean;
  @Of([CoveredHolderView], 'In the order of their keys') holders: CoveredHolderView[];
}
