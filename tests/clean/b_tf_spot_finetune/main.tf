variable "cluster_name" { type = string }
variable "subnet_ids" { type = list(string) }
variable "ami_id" { type = string }
variable "image" { type = string }
variable "bucket" { type = string }
variable "task_role_arn" { type = string }
variable "execution_role_arn" { type = string }

resource "aws_launch_template" "spot" {
  name_prefix   = "finetune-spot-"
  image_id      = var.ami_id
  instance_type = "g6e.2xlarge"

  instance_market_options {
    market_type = "spot"
    spot_options { spot_instance_type = "one-time" }
  }

  metadata_options { http_tokens = "required" }

  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size           = 150
      volume_type           = "gp3"
      encrypted             = true
      delete_on_termination = true
    }
  }

  user_data = base64encode(<<-EOF
    #!/bin/bash
    mkfs.xfs -f /dev/nvme1n1
    mkdir -p /mnt/scratch && mount /dev/nvme1n1 /mnt/scratch
    cat >> /etc/ecs/ecs.config <<CFG
    ECS_CLUSTER=${var.cluster_name}
    ECS_ENABLE_GPU_SUPPORT=true
    ECS_ENABLE_SPOT_INSTANCE_DRAINING=true
    ECS_CONTAINER_STOP_TIMEOUT=100s
    CFG
  EOF
  )
}

resource "aws_autoscaling_group" "spot" {
  name                  = "finetune-spot"
  min_size              = 0
  max_size              = 10
  vpc_zone_identifier   = var.subnet_ids
  protect_from_scale_in = true
  launch_template {
    id      = aws_launch_template.spot.id
    version = aws_launch_template.spot.latest_version
  }
}

resource "aws_ecs_capacity_provider" "spot" {
  name = "finetune-spot"
  auto_scaling_group_provider {
    auto_scaling_group_arn         = aws_autoscaling_group.spot.arn
    managed_termination_protection = "ENABLED"
    managed_scaling { status = "ENABLED" }
  }
}

resource "aws_ecs_task_definition" "finetune" {
  family                   = "finetune"
  requires_compatibilities = ["EC2"]
  network_mode             = "bridge"
  task_role_arn            = var.task_role_arn
  execution_role_arn       = var.execution_role_arn
  volume {
    name      = "scratch"
    host_path = "/mnt/scratch"
  }
  container_definitions = jsonencode([{
    name                 = "trainer"
    image                = var.image
    essential            = true
    cpu                  = 7168
    memory               = 56000
    resourceRequirements = [{ type = "GPU", value = "1" }]
    command = [
      "python", "-m", "finetune.train",
      "--checkpoint-uri", "s3://${var.bucket}/runs/lora-7",
      "--checkpoint-every", "15m",
      "--resume", "auto",
      "--num-workers", "6",
    ]
    environment     = [{ name = "HF_HOME", value = "/scratch/hf" }]
    mountPoints     = [{ sourceVolume = "scratch", containerPath = "/scratch" }]
    linuxParameters = { initProcessEnabled = true, sharedMemorySize = 8192 }
    stopTimeout     = 100
    logConfiguration = {
      logDriver = "awslogs"
      options   = { awslogs-group = "/ecs/finetune", awslogs-region = "us-west-2", awslogs-stream-prefix = "t" }
    }
  }])
}
