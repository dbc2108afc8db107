import { Flag, OneOf, Slug, Text, Timestamp } from '@app/http';
import { ApiProperty } from '@nestjs/swagger';
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
  @OneOf([...TASK_RESULTS, 'pending', 'overdue'], {
    description:
      'pending: no answer within 14 days so far; overdue: no answer since; abandoned: the holder was deleted before it answered',
  })
  result: string;
  @Timestamp({ nullable: true, description: 'Time of the latest answer' }) at: string | null;
  @ApiProperty({ type: KeptView, required: false }) kept?: KeptView;
}

export class CoverageView {
  @Flag({ description: 'Every holder has answered erased, nothing or kept' }) complete: boolean;
  @ApiProperty({ type: [CoveredHolderView], description: 'In the order of their keys' })
  holders: CoveredHolderView[];
}
