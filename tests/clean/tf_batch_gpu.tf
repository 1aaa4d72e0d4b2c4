# Batch jobs on GPUs: one compute environment, one queue, one job definition.

variable "subnet_ids" { type = list(string) }
variable "security_group_ids" { type = list(string) }
variable "instance_profile_arn" { type = string }
variable "image" { type = string }
variable "job_role_arn" { type = string }
variable "execution_role_arn" { type = string }

resource "aws_launch_template" "batch" {
  name_prefix = "batch-gpu-"

  metadata_options {
    http_tokens = "required"
  }

  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size = 200
      volume_type = "gp3"
      encrypted   = true
    }
  }
}

resource "aws_batch_compute_environment" "gpu" {
  name  = "gpu-spot"
  type  = "MANAGED"
  state = "ENABLED"

  compute_resources {
    type                = "SPOT"
    allocation_strategy = "SPOT_PRICE_CAPACITY_OPTIMIZED"
    instance_type       = ["g5.2xlarge", "g5.4xlarge"]
    instance_role       = var.instance_profile_arn
    min_vcpus           = 0
    max_vcpus           = 64
    subnets             = var.subnet_ids
    security_group_ids  = var.security_group_ids

    ec2_configuration {
      image_type = "ECS_AL2023_NVIDIA"
    }

    launch_template {
      launch_template_id = aws_launch_template.batch.id
      version            = "$Latest"
    }
  }
}

resource "aws_batch_job_queue" "gpu" {
  name     = "gpu"
  state    = "ENABLED"
  priority = 10

  compute_environment_order {
    order               = 1
    compute_environment = aws_batch_compute_environment.gpu.arn
  }
}

resource "aws_batch_job_definition" "features" {
  name                  = "video-features"
  type                  = "container"
  platform_capabilities = ["EC2"]
  propagate_tags        = true

  container_properties = jsonencode({
    image            = var.image
    jobRoleArn       = var.job_role_arn
    executionRoleArn = var.execution_role_arn
    command          = ["python", "-m", "features.extract", "--input", "Ref::input", "--output", "Ref::output"]
    resourceRequirements = [
      { type = "GPU", value = "1" },
      { type = "VCPU", value = "8" },
      { type = "MEMORY", value = "28000" },
    ]
    linuxParameters = {
      sharedMemorySize   = 4096
      initProcessEnabled = true
    }
    logConfiguration = {
      logDriver = "awslogs"
      options   = { "awslogs-group" = "/aws/batch/features" }
    }
  })

  retry_strategy {
    attempts = 4
    evaluate_on_exit {
      on_status_reason = "Host EC2*"
      action           = "RETRY"
    }
    evaluate_on_exit {
      on_reason = "*"
      action    = "EXIT"
    }
  }

  timeout {
    attempt_duration_seconds = 14400
  }
}
