# Fine-tuning of adapters on one Spot GPU, with checkpoints in S3.

variable "cluster" { type = string }
variable "subnet_ids" { type = list(string) }
variable "gpu_ami" { type = string }
variable "image" { type = string }
variable "task_role_arn" { type = string }
variable "execution_role_arn" { type = string }

resource "aws_s3_bucket" "runs" {
  bucket_prefix = "example-finetune-"
}

resource "aws_s3_bucket_versioning" "runs" {
  bucket = aws_s3_bucket.runs.id
  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_launch_template" "spot" {
  name_prefix   = "finetune-"
  image_id      = var.gpu_ami
  instance_type = "g5.2xlarge"
  user_data = base64encode(join("\n", [
    "#!/bin/bash",
    "echo ECS_CLUSTER=${var.cluster} >> /etc/ecs/ecs.config",
    "echo ECS_ENABLE_GPU_SUPPORT=true >> /etc/ecs/ecs.config",
    "echo ECS_ENABLE_SPOT_INSTANCE_DRAINING=true >> /etc/ecs/ecs.config",
    "echo ECS_CONTAINER_STOP_TIMEOUT=110s >> /etc/ecs/ecs.config",
  ]))

  instance_market_options {
    market_type = "spot"
  }

  metadata_options {
    http_tokens = "required"
  }

  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size = 150
      volume_type = "gp3"
      encrypted   = true
    }
  }
}

resource "aws_autoscaling_group" "spot" {
  name_prefix           = "finetune-"
  min_size              = 0
  max_size              = 8
  vpc_zone_identifier   = var.subnet_ids
  protect_from_scale_in = true

  launch_template {
    id      = aws_launch_template.spot.id
    version = "$Latest"
  }
}

resource "aws_ecs_capacity_provider" "spot" {
  name = "finetune-spot"
  auto_scaling_group_provider {
    auto_scaling_group_arn         = aws_autoscaling_group.spot.arn
    managed_termination_protection = "ENABLED"
    managed_scaling {
      status = "ENABLED"
    }
  }
}

resource "aws_cloudwatch_log_group" "finetune" {
  name              = "/ecs/finetune"
  retention_in_days = 30
}

resource "aws_ecs_task_definition" "finetune" {
  family                   = "finetune"
  requires_compatibilities = ["EC2"]
  network_mode             = "awsvpc"
  task_role_arn            = var.task_role_arn
  execution_role_arn       = var.execution_role_arn

  container_definitions = jsonencode([{
    name      = "finetune"
    image     = var.image
    essential = true
    cpu       = 7168
    memory    = 28672
    command = [
      "python", "finetune.py",
      "--output", "s3://${aws_s3_bucket.runs.bucket}/adapters",
      "--save-minutes", "20",
      "--resume", "auto",
    ]
    resourceRequirements = [{ type = "GPU", value = "1" }]
    linuxParameters = {
      initProcessEnabled = true
      sharedMemorySize   = 8192
    }
    environment = [
      { name = "TOKENIZERS_PARALLELISM", value = "false" },
    ]
    stopTimeout = 100
    logConfiguration = {
      logDriver = "awslogs"
      options = {
        "awslogs-group"         = aws_cloudwatch_log_group.finetune.name
        "awslogs-region"        = "us-east-2"
        "awslogs-stream-prefix" = "run"
      }
    }
  }])
}
